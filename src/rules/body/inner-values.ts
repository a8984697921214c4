import { charge } from "#rules/budget.ts";
import { readJson } from "./json.ts";

/** Receives a text that a program takes out of a value. */
type TakeText = (text: string) => void;

const DEPTH_MAX = 3;
const BYTE_STEPS = 20;

/**
 * Calls `take` with the texts that programs take out of a value: those of a JSON document, the literals of a GraphQL query, and a line
 * in base64. Time is linear in the value.
 */
export function eachInner(value: string, take: TakeText, depth = 0): void {
  if (depth === DEPTH_MAX || value.length < INNER_BYTES_MIN) return;
  const inner: TakeText = (text) => {
    take(text);
    eachInner(text, take, depth + 1);
  };
  if (/^\s{0,20}[{[]/.test(value)) eachOfJson(value, inner);
  if (GRAPHQL.test(value) && /\(\s*\w/.test(value)) eachLiteral(value, inner);
  const line = value.length <= BASE64_BYTES_MAX && BASE64.test(value) ? lineOf(value) : "";
  if (line !== "") inner(line);
}

const INNER_BYTES_MIN = 8;

/** Only of documents that every program reads; a text in braces is none. */
function eachOfJson(value: string, take: TakeText): void {
  charge(value.length * BYTE_STEPS);
  try {
    JSON.parse(value);
  } catch {
    return;
  }
  readJson(value, (_name, text) => take(text));
}

const GRAPHQL = /^\s{0,20}(?:query|mutation|subscription|\{)/;

function eachLiteral(value: string, take: TakeText): void {
  charge(value.length * BYTE_STEPS);
  let start = -1;
  for (let at = 0; at < value.length; at++) {
    if (start !== -1 && value[at] === "\\") at++;
    else if (value[at] === '"') {
      if (start !== -1) take(value.slice(start, at));
      start = start === -1 ? at + 1 : -1;
    }
  }
}

const BASE64 = /^[\w+/-]{16,}={0,2}$/;
/** A longer one is a file. */
const BASE64_BYTES_MAX = 2048;

/** The text of a value in base64; empty if it is binary or has several lines, as files have. */
function lineOf(value: string): string {
  charge(value.length * BYTE_STEPS);
  const text = Buffer.from(value, "base64").toString("latin1");
  return /^[\x20-\x7e]+$/.test(text) ? text : "";
}

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
