import { isUtf8 } from "node:buffer";
import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { charge } from "#rules/budget.ts";
import { decodePercent } from "#rules/text/url-functions.ts";
import { beginsDeflate } from "./deflate-head.ts";
import { readJson } from "./json.ts";
import { beginsAsXmlDocument, xmlValues } from "./xml-value.ts";

/** Receives a text that a program takes out of a value. */
type TakeText = (text: string) => void;

const DEPTH_MAX = 3;
const BYTE_STEPS = 20;
const JSON_STEPS = 3;

/**
 * Calls `take` with the texts that programs take out of a value: those of a JSON or XML document, the literals of a GraphQL query, the claims of a
 * token, the content of a `data:` URL and of an encoded word, and a line in base64 or hexadecimal. Time is linear in the value. Returns
 * whether the value is a JSON document, of which it also takes the names.
 */
export function eachInner(value: string, take: TakeText, depth = 0): boolean {
  if (depth === DEPTH_MAX || value.length < INNER_BYTES_MIN) return false;
  const inner: TakeText = (text) => {
    take(text);
    eachInner(text, take, depth + 1);
  };
  const isJson = /^\s{0,20}[{[]/.test(value) && eachOfJson(value, inner);
  if (!isJson && GRAPHQL.test(value) && /\(\s*\w/.test(value)) eachLiteral(value, inner);
  if (!isJson && beginsAsXmlDocument(value)) for (const text of xmlValues(value)) inner(text);
  if (isJson || value.length > ENCODED_BYTES_MAX) return isJson;
  for (const line of encodedLines(value)) if (line !== "") inner(line);
  return false;
}

/** The lines that an encoded value decodes to. */
function encodedLines(value: string): readonly string[] {
  const hex = HEX.exec(value)?.[1];
  if (hex !== undefined && hex.length % 2 === 0) return [printable(Buffer.from(hex, "hex"))];
  if (BASE64.test(value) && !value.includes("--")) return linesOf(value);
  if (value.startsWith("=?")) return [...value.matchAll(ENCODED_WORD)].flatMap(([, kind = "", text = ""]) => wordsOf(kind, text));
  if (value.startsWith("data:")) {
    const [, type = "", text = ""] = DATA_URL.exec(value) ?? [];
    return type.toLowerCase().endsWith(";base64") ? contentsOf(decodePercent(text)) : [decodePercent(text)];
  }
  if (!SIGNED.test(value)) return [];
  const parts = value.split(SEPARATORS, SIGNED_PARTS).filter((part) => part.length >= PART_BYTES_MIN);
  return (BASE64.test(value) ? [...parts, value] : parts).flatMap(claimsOf);
}

const HEX = /^(?:0x)?([0-9a-f]{16,})$/i;
/**
 * Parts in base64, as tokens (RFC 7519: what a header says is looked up, too) and signed cookies of frameworks have: Flask's and Django's,
 * which begin with a dot if they are packed, those of Rails (`--`) and Tornado (`|`), and names with an extension.
 */
const SIGNED = /^[\w+/=.:|!~$*"-]+$/;
const SEPARATORS = /[.:|!~$*"]|--/;
const SIGNED_PARTS = 12;
const PART_BYTES_MIN = 8;
const DATA_URL = /^data:([^,]{0,120}),(.*)$/s;
/** RFC 2047 §2. */
const ENCODED_WORD = /=\?[\w-]{1,40}\?([bq])\?([^?\s]{1,1000})\?=/gi;

const wordsOf = (kind: string, text: string): readonly string[] =>
  kind.toLowerCase() === "b" ? linesOf(text) : [decodePercent(text.replaceAll("_", " ").replaceAll("%", "%25").replaceAll("=", "%"))];

const INNER_BYTES_MIN = 8;

/** Only of documents that every program reads; a text in braces is none. Returns whether it is one. */
function eachOfJson(value: string, take: TakeText): boolean {
  charge(value.length * JSON_STEPS);
  try {
    JSON.parse(value);
  } catch {
    return false;
  }
  readJson(value, (name, text) => {
    if (!PLAIN_NAME.test(name)) take(name);
    if (text !== "") take(text);
  });
  return true;
}

/** Names of members that make libraries build objects are none. */
const PLAIN_NAME = /^(?!(?:json_class|__js_function)$)[\w.$-]*$/;
const GRAPHQL = /^\s{0,20}(?:query|mutation|subscription|\{)/;

function eachLiteral(value: string, take: TakeText): void {
  charge(value.length * BYTE_STEPS);
  let start = -1;
  for (let at = 0; at < value.length; at++) {
    if (start !== -1 && value[at] === "\\") at++;
    else if (value[at] === '"') {
      if (start !== -1) take(value.slice(start, at).replace(/\\(["\\/])/g, "$1"));
      start = start === -1 ? at + 1 : -1;
    }
  }
}

const BASE64 = /^[\w+/-]{16,}={0,2}$/;
/** A longer one is a file. */
const ENCODED_BYTES_MAX = 16_384;
const UNPACKED_BYTES_MAX = 65_536;

const linesOf = (value: string): readonly string[] => contentIn(value).map(lineIn);

/** The text of a value; empty if it is binary or has several lines, as files have, except for documents that programs parse. */
function lineIn(bytes: Buffer): string {
  const text = printable(bytes, LINES);
  return LINE.test(text) || (isUtf8(bytes) && !/[\r\n]/.test(text)) || PARSED.test(text.slice(0, PARSED_BYTES_MAX)) ? text : "";
}

/** The same of a part of a signed value, whose JSON may have several lines. */
const claimsOf = (part: string): readonly string[] =>
  contentIn(part).map((bytes) => {
    const text = isUtf8(bytes) ? printable(bytes, LINES) : "";
    return /^\s{0,20}[{[]/.test(text) ? text : lineIn(bytes);
  });

const LINE = /^[\x20-\x7e]+$/;
const LINES = /^[\t\r\n -~\x80-\xff]+$/;
/** Messages of SAML, and documents with declarations. */
const PARSED = /<!entity|<!doctype \w+ ?(?:\[|system)|urn:oasis:names:tc:saml/i;
const PARSED_BYTES_MAX = 4096;

/** The content of a `data:` URL, which may have several lines. */
const contentsOf = (value: string): readonly string[] => contentIn(value).map((bytes) => printable(bytes, LINES));

function printable(bytes: Buffer, plain = LINE): string {
  charge(bytes.length * BYTE_STEPS);
  const text = bytes.toString("latin1");
  return plain.test(text) ? text : "";
}

/** The bytes of a value in base64, and those that they unpack to from gzip or deflate; some are a text and may be a packed one. */
function contentIn(value: string): readonly Buffer[] {
  const bytes = Buffer.from(value, "base64");
  const unpack = unpackerOf(bytes);
  if (unpack === null) return [bytes];
  charge(UNPACKED_BYTES_MAX);
  try {
    return [bytes, unpack(bytes, { maxOutputLength: UNPACKED_BYTES_MAX })];
  } catch {
    return [bytes];
  }
}

/** The binding of SAML to URLs leaves the head of deflate out. */
function unpackerOf(bytes: Buffer): typeof gunzipSync | null {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync;
  if (bytes[0] === 0x78 && ZLIB_LEVELS.has(bytes[1] ?? 0)) return inflateSync;
  return beginsDeflate(bytes) ? inflateRawSync : null;
}

const ZLIB_LEVELS: ReadonlySet<number> = new Set([0x01, 0x5e, 0x9c, 0xda]);

/** Formats that put texts between lengths and numbers. */
const PACKED = /protobuf|grpc|msgpack|messagepack|cbor|bson|thrift|avro|x-amf|flatbuffers/;
/** A text of printable bytes and those of UTF-8. */
const PRINTABLE = /[\x20-\x7e\x80-\xff\t\r\n]{4,}/g;

export const isPacked = (types: readonly string[]): boolean => types.some((type) => PACKED.test(type.toLowerCase()));

/** Calls `take` with each text in a packed body. The byte before a text may be its length, and look like a character. */
export function eachPacked(body: string, take: TakeText): void {
  charge(body.length * BYTE_STEPS);
  for (const [text] of body.matchAll(PRINTABLE)) {
    take(text);
    take(text.slice(1));
  }
}

/** gRPC for browsers sends its messages in base64, each with its own padding. */
export const packedText = (body: string, types: readonly string[]): string =>
  types.some((type) => /grpc-web-text/i.test(type))
    ? // linear: pumped
      (body.match(/[\w+/-]+={0,2}/g) ?? []).map((piece) => Buffer.from(piece, "base64").toString("latin1")).join("")
    : body;
