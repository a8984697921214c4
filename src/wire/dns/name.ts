import { domainToASCII } from "node:url";
import { isIpv4 } from "#kernel/net/ip.ts";
import { RdataError, WireError } from "./errors.ts";
import { escapeLabel, readEscape } from "./presentation.ts";

/**
 * Names in uncompressed wire format with their original case: the only form that distinguishes a dot in a label and bytes
 * outside ASCII (RFC 1035 §3.1, RFC 2181 §11).
 */
export type DnsName = Buffer;

/**
 * A name's lower-case wire format as a Latin-1 string: equal exactly for names that are equal in DNS (RFC 4343), and easy
 * to slice into parents. Length bytes are below 64, so they never look like letters.
 */
export type NameKey = string;

export const NAME_BYTES_MAX = 255;
export const LABEL_BYTES_MAX = 63;
export const ROOT_KEY: NameKey = "\0";

// A name has at most 127 labels, so more pointers than that are useless.
const POINTERS_MAX = 127;

/**
 * Reads a name from a message. Each pointer must refer further back than the previous one, which prevents loops (RFC 1035
 * §4.1.4). With `pointers` false, as in stored RDATA, pointers are rejected.
 */
export function readName(bytes: Uint8Array, offset: number, pointers: boolean): { readonly name: DnsName; readonly end: number } {
  const out = Buffer.allocUnsafe(NAME_BYTES_MAX);
  let length = 0;
  let at = offset;
  let end = -1;
  let before = offset;
  for (let jumps = 0; ;) {
    const head = bytes[at];
    if (head === undefined) throw new WireError("truncated");
    if (head >= 0xc0) {
      const low = bytes[at + 1];
      if (low === undefined) throw new WireError("truncated");
      if (end < 0) end = at + 2;
      at = ((head & 0x3f) << 8) | low;
      jumps += 1;
      if (!pointers || at >= before || jumps > POINTERS_MAX) throw new WireError("bad_pointer");
      before = at;
      continue;
    }
    if (head > LABEL_BYTES_MAX) throw new WireError("bad_label");
    if (length + head + 1 > (head === 0 ? NAME_BYTES_MAX : NAME_BYTES_MAX - 1)) throw new WireError("name_too_long");
    if (at + head >= bytes.length) throw new WireError("truncated");
    for (let i = 0; i <= head; i++) out[length + i] = bytes[at + i] as number;
    length += head + 1;
    at += head + 1;
    if (head === 0) return { name: Buffer.from(out.subarray(0, length)), end: end < 0 ? at : end };
  }
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));
const scratch = Buffer.allocUnsafe(NAME_BYTES_MAX + 1);

/** The key of the uncompressed name that takes `length` bytes from `offset`. */
export function keyOf(bytes: Uint8Array, offset = 0, length = bytes.length): NameKey {
  lowerCaseInto(scratch, bytes, offset, length);
  return scratch.toString("latin1", 0, length);
}

/** Copies `length` bytes from `offset` to the start of `into`, ASCII letters in lower case (RFC 4343 §3). */
export function lowerCaseInto(into: Uint8Array, bytes: Uint8Array, offset: number, length: number): void {
  for (let i = 0; i < length; i++) into[i] = LOWER[bytes[offset + i] as number] as number;
}

/** The name without its first label; undefined above the root. */
export const parentKey = (key: NameKey): NameKey | undefined => (key === ROOT_KEY ? undefined : key.slice(key.charCodeAt(0) + 1));

/** Whether `key` is `ancestor` or below it. */
export function isWithin(key: NameKey, ancestor: NameKey): boolean {
  if (!key.endsWith(ancestor)) return false;
  // The suffix must begin at a label boundary.
  const at = key.length - ancestor.length;
  let label = 0;
  while (label < at) label += key.charCodeAt(label) + 1;
  return label === at;
}

export const nameOfKey = (key: NameKey): DnsName => Buffer.from(key, "latin1");

/** Presentation form without the final dot; the root is `.`. */
export function formatName(name: Uint8Array): string {
  if (name[0] === 0) return ".";
  let text = "";
  for (let at = 0; name[at] !== 0;) {
    const next = at + 1 + (name[at] as number);
    text += `${at === 0 ? "" : "."}${escapeLabel(name.subarray(at + 1, next))}`;
    at = next;
  }
  return text;
}

/**
 * How text is parsed as a name. `api`: a single label is relative to the origin, a name with a dot is absolute
 * (contract.md §3); only characters of host names. `master`: names without a final dot are relative (RFC 1035 §5.1); any
 * characters. In both, internationalized names are converted (RFC 5891).
 */
export interface NameContext {
  readonly origin: DnsName;
  readonly style: "api" | "master";
}

/** Throws RdataError with a reason that follows the subject of a sentence: "must be …". */
export function parseName(text: string, context: NameContext): DnsName {
  const { origin, style } = context;
  if (text === "@") return origin;
  if (text === ".") return Buffer.of(0);
  if (style === "api" && isIpv4(text)) throw new RdataError("must be a host name, not an IP address");
  const plain = parsePlainName(text, context);
  if (plain !== undefined) return plain;
  const { labels, absolute, count } = splitLabels(style === "api" ? toAscii(text) : writtenAscii(text), style === "api");
  const relative = !absolute && (style === "master" || count === 1);
  const name = Buffer.concat([labels, relative ? origin : Buffer.of(0)]);
  if (name.length > NAME_BYTES_MAX) throw new RdataError("must be a name of at most 255 bytes");
  return name;
}

// `/` is used by classless reverse delegation (RFC 2317), `+` by mailbox names in SOA, `*` by wildcards.
const HOST_CHARACTER = /[A-Za-z0-9_\-/+*]/;

/** Characters of host names, which most names consist of. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, code) => (HOST_CHARACTER.test(String.fromCharCode(code)) ? 1 : 0));
const DOT = 0x2e;

/** A fast path; undefined if the name has other characters or is invalid, so that the full parser must decide. */
function parsePlainName(text: string, { origin, style }: NameContext): DnsName | undefined {
  if (text.length === 0 || text.length >= NAME_BYTES_MAX) return undefined;
  let label = 0;
  let labels = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : DOT;
    if (code !== DOT) {
      if (PLAIN[code] !== 1) return undefined;
      scratch[at + 1] = code;
      continue;
    }
    const length = at - label;
    // A final dot already ended the name.
    if (length === 0 && at === text.length) break;
    if (length === 0 || length > LABEL_BYTES_MAX) return undefined;
    scratch[label] = length;
    labels += 1;
    label = at + 1;
  }
  const absolute = text.charCodeAt(text.length - 1) === DOT;
  const relative = !absolute && (style === "master" || labels === 1);
  const end = absolute ? text.length : text.length + 1;
  const rest = relative ? origin.length : 1;
  if (end + rest > NAME_BYTES_MAX) return undefined;
  const name = Buffer.allocUnsafe(end + rest);
  scratch.copy(name, 0, 0, end);
  if (relative) origin.copy(name, end);
  else name[end] = 0;
  return name;
}

/** Parses an absolute name, with or without the final dot. Throws RdataError. */
export const parseAbsoluteName = (text: string): DnsName => parseName(text, { origin: Buffer.of(0), style: "master" });

function toAscii(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  const ascii = domainToASCII(text);
  if (ascii === "") throw new RdataError("must be a valid internationalized name");
  return ascii;
}

/** Master files may also have bytes as escapes, and other text in names, which both stay as they are. */
function writtenAscii(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.includes("\\") || /^[\x00-\x7f]*$/.test(text) || text.length > NAME_BYTES_MAX ? text : domainToASCII(text) || text;
}

function splitLabels(text: string, hostOnly: boolean): { labels: Buffer; absolute: boolean; count: number } {
  const parts: Buffer[] = [];
  let label: number[] = [];
  let absolute = false;
  const close = (): void => {
    if (label.length === 0) throw new RdataError("must be a name without empty labels");
    if (label.length > LABEL_BYTES_MAX) throw new RdataError("must be a name with labels of at most 63 bytes");
    parts.push(Buffer.of(label.length, ...label));
    label = [];
  };
  // A name that fits has at most four characters per byte.
  if (text.length > 4 * NAME_BYTES_MAX) throw new RdataError("must be a name of at most 255 bytes");
  for (let at = 0; at < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(at) as number);
    at += character.length;
    if (character === "\\") {
      const { byte, length } = readEscape(text, at - 1);
      if (byte === undefined) continue;
      label.push(byte);
      at += length - 1;
    } else if (character === ".") {
      close();
      absolute = at === text.length;
    } else {
      if (hostOnly && !HOST_CHARACTER.test(character)) throw new RdataError("must be a valid host name");
      label.push(...Buffer.from(character, "utf8"));
    }
  }
  if (!absolute) close();
  return { labels: Buffer.concat(parts), absolute, count: parts.length };
}
