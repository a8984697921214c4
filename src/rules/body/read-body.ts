import { charge } from "#rules/budget.ts";
import { mimeOf } from "./mime.ts";
import type { BodyCause } from "./body-causes.ts";
import { type BodyKind, type BodyReading, createFindings, type Findings, plainArgument } from "./body-reading.ts";
import { decodeCharset, isPlainCharset } from "./charsets.ts";
import { codingOf, undoCodings } from "./codings.ts";
import { type ContentType, readContentTypes } from "./content-type.ts";
import { formArguments, textArguments } from "./form.ts";
import { addJson, addJsonBody, beginsAsJson, isJsonLines } from "./json-body.ts";
import { addMultipart } from "./multipart-body.ts";
import { addXmlBody } from "./xml.ts";
import { beginsAsXmlDocument, xmlValues } from "./xml-value.ts";

/** A request's body as it was sent, with the header fields that tell how to read it. */
export interface SentBody {
  /** As far as it is kept, one char per byte. */
  readonly raw: string;
  /** Whether the body is longer than `raw`. */
  readonly truncated: boolean;
  /** The lines of each field. */
  readonly contentType: readonly string[];
  readonly contentEncoding: readonly string[];
  /** Limit of the decompressed bytes that are read. */
  readonly decodedBytesMax?: number;
}

export const DECODED_BYTES_MAX = 1_048_576;
const BYTE_STEPS = 1;

/** The body with its content codings decoded; as it was sent if it has none, or if that is impossible. */
export const sentText = (body: SentBody): string => decode(body, new Set()) ?? body.raw;

const decode = (
  { raw, truncated, contentEncoding, decodedBytesMax = DECODED_BYTES_MAX }: SentBody,
  causes: Set<BodyCause>,
): string | null => undoCodings(contentEncoding, raw, truncated, decodedBytesMax, causes);

/**
 * Everything that programs behind the edge may find in the body, as measured for 23 of them (docs/adr/0085), and the
 * reasons why they may find something else. Never throws, and takes time linear in the body. A body with a content coding
 * is read both decoded and as it was sent, because most programs ignore Content-Encoding.
 */
export function readBody(body: SentBody): BodyReading {
  const findings = createFindings();
  if (body.truncated) findings.causes.add("size");
  if (body.raw === "") return { ...findings, kind: "none", text: "" };
  const causes = new Set<BodyCause>();
  const decoded = decode(body, causes);
  for (const cause of causes) findings.causes.add(cause);
  const types = readContentTypes(body.contentType, findings.causes);
  const text = decoded ?? body.raw;
  const isCut = body.truncated || causes.size > 0;
  // Compressed bytes are not a form or document, so their faults are not causes.
  const asSent: Findings = { ...findings, causes: new Set() };
  const hidden = decoded === null && !ARCHIVES.test(types[0]?.type ?? "") ? withoutCoding(body, findings.causes) : null;
  let kind: BodyKind = "none";
  for (const type of types) {
    const read = readAs(type, text, isCut, decoded === null && causes.size > 0 ? asSent : findings);
    kind = kind === "none" ? read : kind;
    if (decoded !== null) readAs(type, body.raw, true, asSent);
    else if (hidden !== null) readAs(type, hidden, true, asSent);
  }
  const isUnsure = [...findings.causes].some((cause) => cause !== "size");
  if (isUnsure && !findings.texts.includes(text)) findings.texts.push(text);
  return { ...findings, kind, text };
}

/** Programs unpack what begins as a compressed body without Content-Encoding. */
function withoutCoding({ raw, truncated, decodedBytesMax = DECODED_BYTES_MAX }: SentBody, causes: Set<BodyCause>): string | null {
  const coding = codingOf(raw);
  if (coding === null) return null;
  const own = new Set<BodyCause>();
  const text = undoCodings([coding], raw, truncated, decodedBytesMax, own);
  // Damage is not a cause, because bytes that begin alike need not be compressed.
  if (own.size > 0) causes.add("size");
  return text;
}

/** Types of files that are compressed as such. */
const ARCHIVES = /zip|zstd|compress|tar$|deflate|^(?:image|audio|video|font)\//;

function readAs(type: ContentType, text: string, isCut: boolean, findings: Findings): BodyKind {
  charge(text.length * BYTE_STEPS);
  const kind = kindOf(type.type, text);
  READERS[kind](text, type, isCut, findings);
  // Programs that expect JSON or XML do not check the type.
  if (kind !== "json" && kind !== "xml" && beginsAsJson(text)) addJson(text, findings);
  if (kind !== "json" && kind !== "xml" && kind !== "multipart" && beginsAsXmlDocument(text))
    for (const value of xmlValues(text)) findings.args.push(plainArgument("element", "", value));
  if (!isPlainCharset(type.charset) && kind !== "multipart") readInCharset(text, type, isCut, kind, findings);
  return kind;
}

/** Reads the whole body in the character set of its type, as if it had been sent in UTF-8. */
function readInCharset(text: string, type: ContentType, isCut: boolean, kind: BodyKind, findings: Findings): void {
  findings.causes.add("charset");
  for (const decoded of decodeCharset(type.charset, text)) {
    READERS[kind](decoded, { ...type, charset: "" }, isCut, { ...findings, causes: new Set() });
    findings.texts.push(decoded);
  }
}

type Reader = (text: string, type: ContentType, isCut: boolean, findings: Findings) => void;

const READERS: Readonly<Record<BodyKind, Reader>> = {
  none: () => undefined,
  form: (text, { charset }, _isCut, findings) => {
    formArguments(text, "form", isPlainCharset(charset) ? declaredCharset(text, findings) : charset, findings.args);
  },
  multipart: (text, type, isCut, findings) => {
    addMultipart(text, type, isCut, findings);
    if (!isPlainCharset(type.charset)) findings.causes.add("charset");
  },
  json: (text, { type }, isCut, findings) => addJsonBody(text, type, isCut, findings),
  xml: (text, _type, isCut, findings) => addXmlBody(text, isCut, findings),
  text: (text, _type, _isCut, findings) => {
    // Events in lines of JSON were read as JSON; no other text is left.
    if (isJsonLines(text)) return;
    findings.texts.push(text);
    if (/[=&]/.test(text)) textArguments(text, findings.args);
  },
  binary: () => undefined,
};

/** The character set that a form declares (HTML, `_charset_`), if it does not contain ASCII. */
function declaredCharset(text: string, { causes }: Findings): string {
  const charset = /(?:^|&)_charset_=([\w.:-]{1,40})/.exec(text)?.[1]?.toLowerCase() ?? "";
  if (isPlainCharset(charset)) return "";
  causes.add("charset");
  return charset;
}

/** The first bytes of serialized Java objects, whose contents are inspected as text. */
const JAVA_OBJECT = "\xac\xed\0\x05";
/** Types whose body programs may read as a form or text, whatever it contains. */
const TEXT_TYPES = /^$|^text\/|graphql|yaml|script|html/;

/** Bytes of which so many control something that no program reads them as a text or a form, as of a picture or an archive. */
function isBinary(text: string): boolean {
  const start = text.slice(0, BINARY_BYTES);
  // oxlint-disable-next-line no-control-regex
  return (start.match(/[\u0000-\u0008\u000e-\u001f\u007f]/g)?.length ?? 0) * BINARY_SHARE > start.length;
}

const BINARY_BYTES = 4096;
const BINARY_SHARE = 20;

/** The kind of body by its content type alone; null if the body decides. */
export function kindOfType(type: string): "form" | "multipart" | "json" | "xml" | null {
  if (type === "application/x-www-form-urlencoded") return "form";
  if (type.startsWith("multipart/")) return "multipart";
  if (/json|^application\/csp-report$/.test(type)) return "json";
  return /[/+]xml/.test(type) ? "xml" : null;
}

function kindOf(type: string, text: string): BodyKind {
  if (text === "") return "none";
  const said = kindOfType(type);
  if (said !== null) return said;
  if (type === "" && !text.startsWith(JAVA_OBJECT) && isBinary(text)) return "binary";
  if (TEXT_TYPES.test(type) || text.startsWith(JAVA_OBJECT)) return "text";
  return mimeOf(text).startsWith("text/") || beginsAsJson(text) ? "text" : "binary";
}
