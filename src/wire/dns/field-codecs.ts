import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { RdataError, WireError } from "./errors.ts";
import { type DnsName, type NameContext, formatName, parseName } from "./name.ts";
import { type Token, escapeLabel, quoteBytes, unescapeText } from "./presentation.ts";
import type { WireReader } from "./wire-reader.ts";

/**
 * One kind of RDATA field in its three forms: wire, presentation text and the API's `data`. `read` throws WireError;
 * `parse` and `fromData` throw RdataError with a reason that follows the field's name.
 */
export interface FieldCodec<V> {
  /** Consumes all remaining words; only allowed for the last field of a type. */
  readonly greedy: boolean;
  /** Contains a domain name, which messages may compress in the types of RFC 1035. */
  readonly isName?: true;
  /** Consists of several members of `data`: `fromData` gets all of them, `toData` returns an object. */
  readonly spread?: true;
  read(reader: WireReader): V;
  bytes(value: V): Uint8Array;
  parse(tokens: readonly Token[], names: NameContext): V;
  format(value: V): string;
  fromData(value: unknown, names: NameContext): V;
  toData(value: V): unknown;
}

function unsigned(bits: 8 | 16 | 32): FieldCodec<number> {
  const max = 2 ** bits - 1;
  const check = (text: string): number => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= max)) throw new RdataError(`must be an integer from 0 to ${max}`);
    return value;
  };
  return {
    greedy: false,
    read: (reader) => (bits === 8 ? reader.u8() : bits === 16 ? reader.u16() : reader.u32()),
    bytes: (value) => {
      const out = Buffer.alloc(bits / 8);
      out.writeUIntBE(value, 0, bits / 8);
      return out;
    },
    parse: (tokens) => check(rawOf(tokens)),
    format: String,
    fromData: (value) => check(typeof value === "number" || typeof value === "string" ? String(value) : ""),
    toData: (value) => value,
  };
}

export const u8 = unsigned(8);
export const u16 = unsigned(16);
export const u32 = unsigned(32);

/** A number that master files may also write as one of these names; always shown as a number. */
const withNames = (codec: FieldCodec<number>, names: Readonly<Record<string, number>>): FieldCodec<number> => ({
  ...codec,
  parse: (tokens, context) => {
    const word = rawOf(tokens).toUpperCase();
    return Object.hasOwn(names, word) ? (names[word] as number) : codec.parse(tokens, context);
  },
});

/** RFC 4398 §2.1. */
export const certificateType = withNames(u16, {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
});

/** RFC 9859 §2.1. */
export const notifyScheme = withNames(u8, { NOTIFY: 1 });

/** RFC 4034 appendix A.1 and the IANA registry that extends it. */
export const keyAlgorithm = withNames(u8, {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  "DSA-NSEC3-SHA1": 6,
  NSEC3DSA: 6,
  "RSASHA1-NSEC3-SHA1": 7,
  NSEC3RSASHA1: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  "ECC-GOST": 12,
  ECCGOST: 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
});

const rawOf = (tokens: readonly Token[]): string => tokens[0]?.raw ?? "";

function dataText(value: unknown): string {
  if (typeof value !== "string") throw new RdataError("must be a string");
  return value;
}

/**
 * Names without the final dot, as in the API. A name of one label keeps it, because otherwise it would be relative to the
 * zone.
 */
const shownName = (name: Uint8Array): string =>
  name.length > 1 && name.length === (name[0] as number) + 2 ? `${formatName(name)}.` : formatName(name);

export const name: FieldCodec<DnsName> = {
  greedy: false,
  isName: true,
  read: (reader) => reader.name(),
  bytes: (value) => value,
  parse: (tokens, names) => parseName(rawOf(tokens), names),
  format: shownName,
  fromData: (value, names) => parseName(dataText(value), names),
  toData: shownName,
};

function address(family: 4 | 6): FieldCodec<Uint8Array> {
  const check = (text: string): Uint8Array => {
    const parsed = parseIp(text);
    if (parsed?.family !== family) throw new RdataError(`must be a valid IPv${family} address`);
    return parsed.bytes;
  };
  const format = (bytes: Uint8Array): string => formatIp({ family, bytes });
  return {
    greedy: false,
    read: (reader) => reader.take(family === 4 ? 4 : 16),
    bytes: (value) => value,
    parse: (tokens) => check(rawOf(tokens)),
    format,
    fromData: (value) => check(dataText(value)),
    toData: format,
  };
}

export const ipv4 = address(4);
export const ipv6 = address(6);

const HARDWARE_ADDRESS = /^[0-9a-f]{2}(?:-[0-9a-f]{2})*$/i;

/** A hardware address: `00-00-5e-00-53-2a` (RFC 7043 §3.2, §4.2). */
function hardwareAddress(bytes: 6 | 8): FieldCodec<Uint8Array> {
  const check = (text: string): Uint8Array => {
    if (text.length !== 3 * bytes - 1 || !HARDWARE_ADDRESS.test(text))
      throw new RdataError(`must be ${bytes} bytes in hexadecimal with hyphens between them`);
    return Buffer.from(text.replaceAll("-", ""), "hex");
  };
  const format = (value: Uint8Array): string => Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("-");
  return {
    greedy: false,
    read: (reader) => reader.take(bytes),
    bytes: (value) => value,
    parse: (tokens) => check(rawOf(tokens)),
    format,
    fromData: (value) => check(dataText(value)),
    toData: format,
  };
}

export const eui48 = hardwareAddress(6);
export const eui64 = hardwareAddress(8);

/** RFC 6742 §2.1.2, §2.3.2: 64 bits as four groups of hexadecimal digits. */
export const groups64: FieldCodec<Buffer> = {
  greedy: false,
  read: (reader) => Buffer.from(reader.take(8)),
  bytes: (value) => value,
  parse: (tokens) => groupsOf(tokens[0]?.raw),
  format: (value) => [0, 2, 4, 6].map((at) => value.readUInt16BE(at).toString(16).padStart(4, "0")).join(":"),
  fromData: groupsOf,
  toData: (value) => groups64.format(value),
};

function groupsOf(text: unknown): Buffer {
  const groups = typeof text === "string" && /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}$/i.test(text) ? text.split(":") : undefined;
  if (groups === undefined) throw new RdataError("must be four groups of hexadecimal digits with colons between them");
  return Buffer.concat(groups.map((group) => u16.bytes(Number.parseInt(group, 16))));
}

export const STRING_BYTES_MAX = 255;

const withLength = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);

/** Uses one buffer, because a record may have thousands of empty strings. */
function allWithLength(strings: readonly Uint8Array[]): Buffer {
  const all = Buffer.alloc(strings.reduce((bytes, { length }) => bytes + 1 + length, 0));
  let at = 0;
  for (const bytes of strings) {
    all[at++] = bytes.length;
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

function shortString(bytes: Buffer): Buffer {
  if (bytes.length > STRING_BYTES_MAX) throw new RdataError("must be at most 255 bytes");
  return bytes;
}

/** One <character-string> of RFC 1035 §3.3, shown in quotes. */
export const characterString: FieldCodec<Buffer> = {
  greedy: false,
  read: (reader) => reader.take(reader.u8()),
  bytes: withLength,
  parse: (tokens) => shortString(unescapeText(rawOf(tokens))),
  format: quoteBytes,
  fromData: (value) => shortString(Buffer.from(dataText(value), "utf8")),
  toData: (value) => value.toString("utf8"),
};

const isTag = (bytes: Buffer): boolean => /^[A-Za-z0-9]{1,255}$/.test(bytes.toString("latin1"));

function tag(bytes: Buffer): Buffer {
  if (!isTag(bytes)) throw new RdataError("must be letters and digits");
  return bytes;
}

/** A property tag: letters and digits, shown without quotes (RFC 8659 §4.1). */
export const propertyTag: FieldCodec<Buffer> = {
  ...characterString,
  read: (reader) => {
    const bytes = reader.take(reader.u8());
    if (!isTag(bytes)) throw new WireError("bad_rdata");
    return bytes;
  },
  parse: (tokens) => tag(unescapeText(rawOf(tokens))),
  format: escapeLabel,
  fromData: (value) => tag(Buffer.from(dataText(value), "utf8")),
};

/** One or more character strings; text longer than 255 bytes continues in the next one (SPEC 2.2, RFC 7208 §3.3). */
export const characterStrings: FieldCodec<readonly Buffer[]> = {
  greedy: true,
  read: (reader) => {
    const strings: Buffer[] = [];
    do strings.push(reader.take(reader.u8()));
    while (!reader.done);
    return strings;
  },
  bytes: allWithLength,
  parse: (tokens, { style }) => {
    if (tokens.length === 0) throw new RdataError("must not be empty");
    const allQuoted = tokens.every((token) => token.quoted);
    if (style === "api" && !allQuoted && tokens.some((token) => token.quoted)) throw new RdataError("has inconsistent quotes");
    return tokens.flatMap((token) => splitText(unescapeText(token.raw)));
  },
  format: (value) => value.map(quoteBytes).join(" "),
  fromData: (value) => splitText(Buffer.from(dataText(value), "utf8")),
  toData: (value) => Buffer.concat(value).toString("utf8"),
};

function splitText(bytes: Buffer): Buffer[] {
  if (bytes.length <= STRING_BYTES_MAX) return [bytes];
  const strings = [bytes.subarray(0, STRING_BYTES_MAX)];
  for (let at = STRING_BYTES_MAX; at < bytes.length; at += STRING_BYTES_MAX) strings.push(bytes.subarray(at, at + STRING_BYTES_MAX));
  return strings;
}

/** Text that fills the rest of the RDATA without a length, shown in quotes. */
export const text: FieldCodec<Buffer> = {
  greedy: false,
  read: (reader) => reader.rest(),
  bytes: (value) => value,
  parse: (tokens) => unescapeText(rawOf(tokens)),
  format: quoteBytes,
  fromData: (value) => Buffer.from(dataText(value), "utf8"),
  toData: (value) => value.toString("utf8"),
};

function encodedRest(encoding: "hex" | "base64", pattern: RegExp): FieldCodec<Buffer> {
  const check = (spaced: string): Buffer => {
    const written = spaced.replace(/\s+/g, "");
    if (written === "" || !pattern.test(written))
      throw new RdataError(`must be ${encoding === "hex" ? "an even number of hexadecimal digits" : "base64"}`);
    return Buffer.from(written, encoding);
  };
  const format = (value: Buffer): string => value.toString(encoding);
  return {
    greedy: true,
    read: (reader) => {
      if (reader.done) throw new WireError("bad_rdata");
      return reader.rest();
    },
    bytes: (value) => value,
    parse: (tokens) => check(tokens.map((token) => token.raw).join("")),
    format,
    fromData: (value) => check(dataText(value)),
    toData: format,
  };
}

/** Bytes that fill the rest of the RDATA, shown as one word; white space in the input is ignored. */
export const hex = encodedRest("hex", /^(?:[0-9A-Fa-f]{2})+$/);
// linear: pumped
export const base64 = encodedRest("base64", /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
