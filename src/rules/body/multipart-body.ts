import { charge } from "#rules/budget.ts";
import type { BodyCause } from "./body-causes.ts";
import { mimeOf } from "./mime.ts";
import { type Argument, type Findings, NO_READINGS } from "./body-reading.ts";
import { decodeCharset, isPlainCharset } from "./charsets.ts";
import { type ContentType, readContentType } from "./content-type.ts";
import { type Disposition, readDisposition } from "./disposition.ts";
import { otherNames } from "./form.ts";
import { addJson } from "./json-body.ts";
import { eachPart } from "./multipart.ts";
import { type PartHead, readPartHead } from "./part-head.ts";
import { undoTransferEncoding } from "./transfer-encoding.ts";

const DEPTH_MAX = 2;
const READINGS_MAX = 2;
const PART_STEPS = 3000;
const PLAIN_STEPS = 600;

/** Adds the parts of a multipart body, and of nested multipart bodies. */
export function addMultipart(body: string, type: ContentType, isCut: boolean, findings: Findings, depth = 0): void {
  const { causes } = findings;
  const from = findings.args.length;
  const needsName = type.type === "multipart/form-data" && depth === 0;
  const take = (part: string, isLast: boolean): void => addPart(part, needsName, isCut && isLast, findings, depth);
  for (const boundary of type.boundaries) {
    // A part is known to be the last one only when no other follows.
    let waiting: string | undefined;
    const isThere = eachPart(body, boundary, isCut, causes, (part) => {
      if (waiting !== undefined) take(waiting, false);
      waiting = part;
    });
    if (waiting !== undefined) take(waiting, true);
    if (isThere) break;
  }
  const whole = findings.args.slice(from, isCut ? -1 : undefined);
  const own = whole.find(({ source, name }) => source === "multipart" && name === "_charset_");
  const charset = own?.value.trim().toLowerCase() ?? "";
  if (isPlainCharset(charset)) return;
  causes.add("charset");
  for (let at = from; at < findings.args.length; at++) findings.args[at] = alsoIn(charset, findings.args[at]!);
}

const alsoIn = (charset: string, argument: Argument): Argument => ({
  ...argument,
  otherValues: [...argument.otherValues, ...decodeCharset(charset, argument.value)].slice(0, READINGS_MAX),
});

/** The head that clients write before a field: nothing in it is read in two ways. */
const PLAIN_FIELD = /^Content-Disposition: (form-data; name="([\w.[\]-]{1,120})")\r\n\r\n/;

function addPart(part: string, needsName: boolean, isCut: boolean, findings: Findings, depth: number): void {
  const plain = PLAIN_FIELD.exec(part);
  if (plain !== null) return addPlain(part.slice(plain[0].length), plain[2] ?? "", plain[1] ?? "", findings, depth);
  charge(PART_STEPS);
  // An incomplete head is not judged, because the body is cut there.
  const causes = new Set<BodyCause>();
  const head = readPartHead(part, causes);
  const dispositions = head.values("content-disposition");
  const types = head.values("content-type");
  const disposition = readDisposition(dispositions, needsName, causes);
  const encodings = head.values("content-transfer-encoding");
  const type = types[0] ?? "";
  const otherValues = otherReadings(head, type, causes);
  if (depth === 0) {
    const { shownNames: names, shownFilenames: filenames } = disposition;
    findings.parts.push({ names, filenames, types, dispositions, encodings, lines: head.lines, value: head.value, otherValues });
  }
  const isWhole = head.isEnded || !isCut;
  if (isWhole) for (const cause of causes) findings.causes.add(cause);
  addValue(head.value, otherValues, disposition, type, isWhole ? findings : { ...findings, causes });
  if (!isWhole) return;
  if (/^multipart\//i.test(type)) {
    if (depth === DEPTH_MAX) findings.causes.add("part-head");
    else addMultipart(head.value, readContentType(type, findings.causes), isCut, findings, depth + 1);
  }
}

function addPlain(value: string, name: string, disposition: string, { parts, args }: Findings, depth: number): void {
  charge(PLAIN_STEPS);
  const others = otherNames(name);
  if (depth === 0) {
    const lines = [`Content-Disposition: ${disposition}`];
    const none = NO_READINGS;
    parts.push({
      names: [name],
      filenames: none,
      types: none,
      dispositions: [disposition],
      encodings: none,
      lines,
      value,
      otherValues: none,
    });
  }
  args.push({ source: "multipart", name, value, otherNames: others, otherValues: NO_READINGS, path: name });
}

function addValue(
  value: string,
  otherValues: readonly string[],
  { names, filenames }: Disposition,
  type: string,
  findings: Findings,
): void {
  const [name = "", ...others] = names;
  const isFile = filenames.some((filename) => filename !== "");
  if (filenames.length > 0) findings.files.push({ name, otherNames: others, filenames, type, text: value });
  // Some programs read it as a field if it has no type, and all do if they see no file name.
  const isSure = findings.causes.size === 0 || (findings.causes.size === 1 && findings.causes.has("size"));
  if (isFile && isSure && (type !== "" || !mimeOf(value).startsWith("text/"))) return;
  const allNames = [...new Set([...others, ...otherNames(name)])].slice(0, READINGS_MAX);
  findings.args.push({
    source: "multipart",
    name,
    value,
    otherNames: allNames.length === 0 ? NO_READINGS : allNames,
    otherValues,
    path: name,
  });
  if (/json/i.test(type)) addJson(value, findings);
}

/** The part's value decoded by its transfer encodings and character set. */
function otherReadings(head: PartHead, type: string, causes: Set<BodyCause>): readonly string[] {
  const readings: string[] = [];
  for (const encoding of head.values("content-transfer-encoding")) {
    const decoded = undoTransferEncoding(encoding, head.value);
    if (decoded === undefined) causes.add("coding-unknown");
    else if (decoded !== null) readings.push(decoded);
  }
  if (head.values("content-encoding").length > 0) causes.add("coding");
  const charset = type === "" ? "" : readContentType(type, causes).charset;
  if (!isPlainCharset(charset)) {
    causes.add("charset");
    readings.push(...decodeCharset(charset, readings[0] ?? head.value));
  }
  return readings.length === 0 ? NO_READINGS : readings.slice(0, READINGS_MAX);
}
