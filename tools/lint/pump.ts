import type { MarkedPattern } from "./pumped.ts";

/** A text on which the pattern took too long. */
export interface Slow {
  readonly piece: string;
  readonly ms: number;
}

export const PUMP_MS_MAX = 50;
/** A slow result is measured again, because the machine may be busy. */
const TRIES = 3;
const FEWER = 16;
const FEW_MS_MAX = PUMP_MS_MAX / FEWER ** 2;
const PREFIXES_MAX = 10;
const PIECES_MAX = 200;
const ENDS_MAX = 4;

/**
 * Tries the pattern on texts of repeated pieces, each made of parts of the pattern, after a possible prefix and with a
 * suffix that does not match. Returns the first one on which it takes more than 50 ms, or undefined. With `g` all
 * matches are searched.
 */
export function pump({ source, flags, bytes }: MarkedPattern): Slow | undefined {
  const pattern = new RegExp(source, flags);
  const { pieces, prefixes, ends } = textsOf(source);
  for (const prefix of prefixes)
    for (const piece of pieces)
      for (const end of ends) {
        const text = (length: number): string => (prefix + piece.repeat(Math.ceil(length / piece.length))).slice(0, length) + end;
        const few = bytes / FEWER;
        for (const length of [...lengthsOf(piece, bytes), few, bytes]) {
          const tried = text(length);
          const ms = bestOf(() => run(pattern, tried), length === few ? FEW_MS_MAX : PUMP_MS_MAX);
          if (ms > PUMP_MS_MAX) return { piece: `${prefix}${piece}`, ms };
          // A pattern that is fast on few bytes is fast on all of them even if its time is quadratic.
          if (length === few && ms < FEW_MS_MAX) break;
        }
      }
  return undefined;
}

/** Repetitions up to which a time shows that each of them multiplies. */
const REPETITIONS_MAX = 200;
const MORE_BYTES = 4;
/** If a text takes less than the allowed time, one that is so much longer ends, too, even if the time is exponential. */
const GROWTH = 1.2;

/** Texts of few repetitions, because an exponential time is short on a small share of a text and endless on all of it. */
function lengthsOf(piece: string, bytes: number): readonly number[] {
  const lengths: number[] = [];
  const most = Math.min(bytes, REPETITIONS_MAX * piece.length);
  for (let length = MORE_BYTES; length < most; length = Math.max(length + MORE_BYTES, Math.floor(length * GROWTH))) lengths.push(length);
  return lengths;
}

function run(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) text.match(pattern);
  else pattern.exec(text);
}

function bestOf(work: () => void, enough: number): number {
  let ms = Infinity;
  for (let tries = 0; tries < TRIES && ms >= enough; tries++) {
    const from = performance.now();
    work();
    ms = Math.min(ms, performance.now() - from);
  }
  return ms;
}

const WINDOW_TOKENS_MAX = 5;
const SAMPLES: Readonly<Record<string, string>> = {
  d: "0",
  D: "a",
  w: "a",
  W: " ",
  s: " ",
  S: "a",
  b: "",
  B: "",
  n: "\n",
  r: "\r",
  t: "\t",
};
const ALWAYS = ["a", "0", " ", "\n", "/", '"', "\\", "="];

/** Up to five neighbouring parts of the pattern, with an example of each, and the texts before them. */
function textsOf(source: string): {
  readonly pieces: readonly string[];
  readonly prefixes: readonly string[];
  readonly ends: readonly string[];
} {
  const tokens = tokensOf(source);
  const windows = new Set(ALWAYS);
  for (let at = 0; at < tokens.length; at++)
    for (let length = 1; length <= WINDOW_TOKENS_MAX && windows.size < PIECES_MAX; length++)
      windows.add(tokens.slice(at, at + length).join(""));
  windows.delete("");
  // A byte outside the set stops it.
  const stops = Array.from(source.matchAll(/\[\^((?:[^\]\\]|\\.)*)\]/g), ([, members = ""]) => tokensOf(members).at(0) ?? "");
  const ends = [...new Set(["\u0001", "", ...stops])].slice(0, ENDS_MAX);
  const starts = Array.from({ length: 8 }, (_, length) => tokens.slice(0, length).join(""));
  return { pieces: [...windows], prefixes: [...new Set([...starts, ...ALWAYS.slice(0, 3)])].slice(0, PREFIXES_MAX), ends };
}

/** A character or a word for each part of the pattern, without repetitions and groups. */
function tokensOf(source: string): readonly string[] {
  const parts = source.matchAll(
    /\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\(.)|\[(\^?)((?:[^\]\\]|\\.)*)\]|\(\?(?:<?[=!]|:|<\w+>)|\{[\d,]+\}|([A-Za-z]+|.)/gsu,
  );
  return Array.from(parts, ([whole, x, u, escaped, negation, members, plain]) => {
    if (x !== undefined || u !== undefined) return String.fromCharCode(Number.parseInt(x ?? u ?? "", 16));
    if (escaped !== undefined) return SAMPLES[escaped] ?? escaped;
    if (members !== undefined) return negation === "^" ? "a" : (tokensOf(members)[0] ?? "");
    if (plain === ".") return "a";
    return plain === undefined || "()|*+?^$".includes(plain) || whole.length === 0 ? "" : plain;
  }).filter((token) => token !== "");
}
