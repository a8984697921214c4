import { charge } from "#rules/budget.ts";

/** Decodes `%41` to `A`; invalid escapes stay. */
export function decodePercent(text: string): string {
  const first = text.indexOf("%");
  if (first === -1) return text;
  const bytes = Buffer.from(text, "latin1");
  let length = first;
  for (let at = first; at < bytes.length; at++) {
    const high = bytes[at] === PERCENT ? hexDigit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2]);
    if (low !== -1) at += 2;
    bytes[length++] = low === -1 ? bytes[at]! : high * 16 + low;
  }
  return bytes.toString("latin1", 0, length);
}

const PERCENT = 0x25;

/** The value of a hexadecimal digit; -1 for other bytes. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

export interface UrlDecoding {
  /** Repeats until nothing is left to decode. */
  readonly recursive: boolean;
  /** `%u2601` too, as UTF-8. */
  readonly unicode: boolean;
}

// Each round makes the text shorter or ends; a text that was encoded more often is an attack by itself.
const ROUNDS_MAX = 16;

/** `%41` and `+`, and by `decoding` more. */
export function decodeUrl(text: string, decoding: UrlDecoding): string {
  let decoded = once(text, decoding.unicode);
  if (!decoding.recursive) return decoded;
  for (let round = 1, before = text; round < ROUNDS_MAX && decoded !== before; round++) {
    before = decoded;
    decoded = once(decoded, decoding.unicode);
  }
  return decoded;
}

// Steps of a round, and per byte in it; and per byte of a text with escapes such as `%u2601`.
const ROUND_STEPS = 400;
const DECODE_STEPS = 10;
const UNICODE_STEPS = 100;

function once(text: string, unicode: boolean): string {
  charge(ROUND_STEPS + text.length * DECODE_STEPS);
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!unicode || !spaced.includes("%u")) return decodePercent(spaced);
  charge(text.length * UNICODE_STEPS);
  return spaced.replace(/%u([0-9A-Fa-f]{4})|%([0-9A-Fa-f]{2})/g, (_whole, point: string | undefined, hex: string | undefined) =>
    point === undefined
      ? String.fromCharCode(Number.parseInt(hex ?? "00", 16))
      : Buffer.from(String.fromCharCode(Number.parseInt(point, 16)), "utf8").toString("latin1"),
  );
}

/** The query without the arguments of these names, the others in their order. */
export function removeQueryArguments(query: string, names: ReadonlySet<string>): string {
  if (query === "") return query;
  return query
    .split("&")
    .filter((pair) => {
      const equals = pair.indexOf("=");
      return !names.has(equals === -1 ? pair : pair.slice(0, equals));
    })
    .join("&");
}
