import { charge, createToll } from "#rules/budget.ts";
import { rememberLast } from "#rules/text/memo.ts";
import type { Value } from "#rules/expression/values/value-type.ts";

export type JsonFound = { readonly kind: "string"; readonly value: string } | { readonly kind: "integer"; readonly value: number | bigint };

/**
 * The string or integer at a path of a JSON document: a string names a member, a number an item, from 0. Undefined if the
 * value is missing or of another type, or if the document is not JSON.
 */
export function lookUpJson(document: string, path: readonly (Value | undefined)[]): JsonFound | undefined {
  toll(document);
  if (!isJson(document)) return undefined;
  let at = skipSpace(document, 0);
  for (const key of path) {
    const next = typeof key === "string" ? findMember(document, at, key) : findItem(document, at, Number(key));
    if (next === undefined) return undefined;
    at = next;
  }
  return readScalar(document, at);
}

const toll = createToll(10);
/** Steps per byte that is skipped. */
const WALK_STEPS = 8;
/** Steps of refusing a text that is not JSON. */
const REFUSAL_STEPS = 10_000;
/** Steps of a string with escapes, beside those for its bytes. */
const DECODE_STEPS = 1000;

/** The text is UTF-8 with one char per byte; JSON's syntax is ASCII only, so it need not be decoded for this. */
const isJson = rememberLast((text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    charge(REFUSAL_STEPS);
    return false;
  }
});

// From here on the document is known to be valid, so each value ends at its last bracket, quote or digit.

function findMember(text: string, start: number, key: string): number | undefined {
  if (text[start] !== "{") return undefined;
  let found: number | undefined;
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const end = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    // The last of several members with the same name counts, as in JSON.parse.
    if (decodeString(text.slice(at, end)) === key) found = value;
    at = nextItem(text, value);
  }
  charge((at - start) * WALK_STEPS);
  return found;
}

function findItem(text: string, start: number, place: number): number | undefined {
  if (text[start] !== "[" || place < 0) return undefined;
  let at = skipSpace(text, start + 1);
  let i = 0;
  for (; i < place && at < text.length && text[at] !== "]"; i++) at = nextItem(text, at);
  charge((at - start) * WALK_STEPS);
  return i === place && at < text.length && text[at] !== "]" ? at : undefined;
}

/** Index after the comma that follows the value, or of the closing bracket. */
function nextItem(text: string, value: number): number {
  const at = skipSpace(text, skipValue(text, value));
  return text[at] === "," ? skipSpace(text, at + 1) : at;
}

function skipValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return skipString(text, start);
  if (first !== "{" && first !== "[") return skipWord(text, start);
  let depth = 0;
  for (let at = start; at < text.length;) {
    const char = text[at];
    if (char === '"') {
      at = skipString(text, at);
      continue;
    }
    if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
    at++;
  }
  return text.length;
}

function skipString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !isEnd(text.charCodeAt(at))) at++;
  return at;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
const isEnd = (code: number): boolean => isSpace(code) || code === 0x2c || code === 0x5d || code === 0x7d;

function readScalar(text: string, at: number): JsonFound | undefined {
  if (text[at] === '"') return { kind: "string", value: decodeString(text.slice(at, skipString(text, at))) };
  const word = text.slice(at, skipWord(text, at));
  if (!/^-?\d{1,19}$/.test(word)) return undefined;
  const small = Number(word);
  if (Number.isSafeInteger(small)) return { kind: "integer", value: small };
  const big = BigInt(word);
  return BigInt.asIntN(64, big) === big ? { kind: "integer", value: big } : undefined;
}

/** The bytes that a JSON string stands for. */
function decodeString(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  charge(DECODE_STEPS + quoted.length * WALK_STEPS);
  const value: unknown = JSON.parse(Buffer.from(quoted, "latin1").toString("utf8"));
  return Buffer.from(String(value), "utf8").toString("latin1");
}
