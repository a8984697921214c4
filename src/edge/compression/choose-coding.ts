import type { Algorithm, Coding } from "#edge/exchange/decisions.ts";
import { type Framing, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { rememberTexts } from "#rules/text/memo.ts";
import { type FieldChange, fieldChange } from "#rules/actions/field-change.ts";
import { changeField, editResponse, setField, editedValues, touches } from "#edge/http/header-edits.ts";
import { CODINGS, preferredCoding, readAcceptEncoding } from "./accept-encoding.ts";
import { type Codecs, WHOLE_BYTES_MAX } from "./codecs.ts";
import { mediaType } from "#edge/http/media-type.ts";
import { isCompressible } from "./compressible.ts";

/** Shorter bodies fit into the packet of their head, compressed or not. Bytes. */
const BODY_BYTES_MIN = 256;
/** Statuses without a body (RFC 9110 §15). */
const NO_CONTENT: ReadonlySet<number> = new Set([204, 205]);
const [PARTIAL, NOT_MODIFIED] = [206, 304] as const;
/** Over HTTP/2 the edge answers higher statuses with its own page, which is not compressed. */
const STATUS_MAX = 599;
/** These fields describe the original bytes (RFC 9110 §14.3, RFC 9530). */
const OF_THE_BYTES = ["accept-ranges", "content-digest", "content-md5", "digest", "repr-digest"].map((name) => fieldChange(name, "remove"));

/**
 * Decides in which coding the body goes out, and changes the head accordingly. Runs after all rules, whose fields count.
 * `algorithms` of a compression rule replace the default; null without one.
 */
export function chooseCoding(
  exchange: Exchange,
  buffer: Buffer,
  head: Head,
  framing: Framing,
  algorithms: readonly Algorithm[] | null,
  codecs: Pick<Codecs, "hasRoom">,
): void {
  if (exchange.zone === null || exchange.ownOrigin !== null) return;
  const { status } = head;
  const wishes = algorithms ?? DEFAULT;
  if (status === NOT_MODIFIED) return describeUnsent(exchange, buffer, head, wishes);
  if (NO_CONTENT.has(status) || status > STATUS_MAX || (framing === NO_BODY && exchange.method !== "HEAD")) return;
  const { contentLength } = head;
  if (wholeLength(exchange, buffer, head) < BODY_BYTES_MIN || !mayCompress(exchange, buffer, head, wishes)) return;
  exchange.variesByCoding = !variesAlready(exchange, buffer, head);
  if (status === PARTIAL) return;
  const coding = codingFor(exchange, buffer, head, wishes);
  const isWhole = exchange.cachedBody !== null || (contentLength >= 0 && contentLength <= WHOLE_BYTES_MAX);
  if (coding === null || (!isWhole && !codecs.hasRoom())) return;
  exchange.coding = coding;
  describe(exchange, buffer, head, coding);
}

const DEFAULT: readonly Algorithm[] = ["default"];

function mayCompress(exchange: Exchange, buffer: Buffer, head: Head, wishes: readonly Algorithm[]): boolean {
  if (wishes[0] === "none") return false;
  if (wishes[0] === "default" && !isCompressible(mediaTypeOf(exchange, buffer, head))) return false;
  const { responseEdits: edits } = exchange;
  if (exchange.unsent?.isCoded === true) return false;
  const codings = editedValues(buffer, head, edits, "content-encoding");
  if (codings.some(isCoded)) return false;
  if (editedValues(buffer, head, edits, "cache-control").some(forbidsTransforms)) return false;
  if (exchange.cacheRule?.respect_strong_etags !== true) return true;
  return !editedValues(buffer, head, edits, "etag").some((tag) => tag.startsWith('"'));
}

const isCoded = (coding: string): boolean => coding.trim().toLowerCase() !== "identity";
export const forbidsTransforms = (control: string): boolean => NO_TRANSFORM.test(control);
/** The directive no-transform of Cache-Control (RFC 9110 §7.7). */
// linear: pumped
const NO_TRANSFORM = /(?:^|[\s,])no-transform\s*(?:$|,)/i;

const ENCODING: Readonly<Record<Coding, FieldChange>> = {
  zstd: fieldChange("Content-Encoding", "set", "zstd"),
  br: fieldChange("Content-Encoding", "set", "br"),
  gzip: fieldChange("Content-Encoding", "set", "gzip"),
};

const RULE_CODINGS: Readonly<Record<string, Coding>> = { gzip: "gzip", brotli: "br", zstd: "zstd" };

/** For zones with the setting `brotli` off: a rule may still name it (SPEC 9). */
const OTHER_CODINGS: readonly Coding[] = CODINGS.filter((coding) => coding !== "br");

/** One pass over the lines is cheaper than parsing the head. */
// linear: pumped
const ACCEPT_ENCODING = /^accept-encoding:.*$/gim;

/** The lines in which the visitor, or a rule, names the codings of the response. */
export const codingLines = (exchange: Exchange): readonly string[] => exchange.linesOf("accept-encoding", ACCEPT_ENCODING);

/** Most visitors send the same value as a recent one. */
const acceptedBy = rememberTexts((lines: string) => readAcceptEncoding(lines.split("\n").map((line) => line.slice(line.indexOf(":") + 1))));

/** The first algorithm of a rule that the visitor accepts. An algorithm that a rule names applies to every media type. */
function codingFor(exchange: Exchange, buffer: Buffer, head: Head, wishes: readonly Algorithm[]): Coding | null {
  if (!exchange.hasCodings && exchange.requestEdits === null) return null;
  const lines = exchange.codingLines ?? codingLines(exchange);
  if (lines.length === 0) return null;
  const accepted = acceptedBy(lines.length === 1 ? lines[0]! : lines.join("\n"));
  for (const wish of wishes) {
    const coding = RULE_CODINGS[wish];
    if (coding !== undefined) {
      if (accepted.quality(coding) > 0) return coding;
    } else if (wish === "none") return null;
    else if (wish === "auto" || isCompressible(mediaTypeOf(exchange, buffer, head)))
      return preferredCoding(accepted, exchange.settings.brotli ? CODINGS : OTHER_CODINGS);
  }
  return null;
}

function describe(exchange: Exchange, buffer: Buffer, head: Head, coding: Coding): void {
  tellOtherBytes(exchange, buffer, head);
  changeField(editResponse(exchange), ENCODING[coding]);
}

/** Changes the head of a response with other bytes of the same meaning. */
export function tellOtherBytes(exchange: Exchange, buffer: Buffer, head: Head): void {
  weakenTag(exchange, buffer, head);
  const edits = editResponse(exchange);
  for (const change of OF_THE_BYTES) changeField(edits, change);
}

/** RFC 9110 §8.8.3: a strong ETag would identify other bytes. */
export function weakenTag(exchange: Exchange, buffer: Buffer, head: Head): void {
  const [tag] = editedValues(buffer, head, exchange.responseEdits, "etag");
  if (tag?.startsWith('"') === true) setField(editResponse(exchange), "ETag", `W/${tag}`);
}

/**
 * A 304 has the fields that the 200 would have (RFC 9110 §15.4.5): that the coding varies, and the weak tag of a body
 * that this visitor would get compressed. An origin's own 304 does not tell the type; then the tag in the visitor's copy
 * tells whether that was compressed.
 */
function describeUnsent(exchange: Exchange, buffer: Buffer, head: Head, wishes: readonly Algorithm[]): void {
  const { unsent } = exchange;
  if ((unsent !== null && unsent.length < BODY_BYTES_MIN) || !mayCompress(exchange, buffer, head, wishes)) return;
  exchange.variesByCoding = !variesAlready(exchange, buffer, head);
  if (codingFor(exchange, buffer, head, wishes) === null) return;
  const [tag] = editedValues(buffer, head, exchange.responseEdits, "etag");
  if (tag?.startsWith('"') !== true) return;
  const wasCompressed = unsent !== null || exchange.headers("if-none-match").join(",").includes(`W/${tag}`);
  if (wasCompressed) setField(editResponse(exchange), "ETag", `W/${tag}`);
}

/** Length of the body, or of the whole body if this is a part; `Infinity` if unknown. */
function wholeLength(exchange: Exchange, buffer: Buffer, head: Head): number {
  if (head.status !== PARTIAL) return head.contentLength < 0 ? Infinity : head.contentLength;
  const [range] = editedValues(buffer, head, exchange.responseEdits, "content-range");
  const total = range?.slice(range.lastIndexOf("/") + 1) ?? "";
  return /^\d{1,15}$/.test(total) ? Number(total) : Infinity;
}

const VARIES = /(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i;

const namesCodings = (vary: string): boolean => VARIES.test(vary);

const variesAlready = (exchange: Exchange, buffer: Buffer, head: Head): boolean =>
  editedValues(buffer, head, exchange.responseEdits, "vary").some(namesCodings);

/** A 304 without a type counts as text: a needless Vary is harmless, a missing one is not. */
const UNTOLD_TYPE = "text/plain";

/** The media type of the body as received, unless a rule changes it. */
function mediaTypeOf({ responseEdits: edits, contentType, unsent }: Exchange, buffer: Buffer, head: Head): string {
  if (edits !== null && touches(edits, "content-type")) return mediaType(editedValues(buffer, head, edits, "content-type")[0] ?? "");
  if (unsent !== null) return unsent.contentType;
  return contentType === "" && head.status === NOT_MODIFIED ? UNTOLD_TYPE : contentType;
}
