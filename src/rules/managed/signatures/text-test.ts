import { charge } from "#rules/budget.ts";
import { compileRegexTest, type RegexTest } from "#rules/regex/regex.ts";
import { type ByteSet, oneByte } from "#rules/regex/byte-set.ts";
import { firstBytesOf } from "#rules/regex/regex-linear.ts";
import { parseRegex } from "#rules/regex/regex-syntax.ts";
import { type Reach, reachOf } from "./reach.ts";
import type { Signature } from "./signature.ts";

/** By literal, the ends of its occurrences in a text; null if it is everywhere. */
export interface Spots {
  get(literal: number): readonly number[] | null | undefined;
}

/** Whether a text has a signature. Of a long text, with `spots`, only the surroundings of the signature's literals are tested. */
export type TextTest = (text: string, spots?: Spots) => boolean;

const BEGINNING_BYTES_MAX = 1024;

/** Steps of signatures at one position of a text: an upper bound, rarely reached. */
const STEPS_MAX = 10_000_000;

/** Steps for a byte of a tested piece, for a piece however short it is, and for one of several of a text. */
const TEST_STEPS = 5;
const PIECE_STEPS = 300;
const WINDOW_STEPS = 60;
/** Steps for sorting one more position. */
const SPOT_STEPS = 40;

/** `groups`: by number, literals of which every match has one of each group. */
export function createTextTest({ looksFor, unless, beginsValue }: Signature, groups: readonly (readonly number[])[]): TextTest {
  if ("detect" in looksFor) return looksFor.detect;
  const pattern: RegexTest = compileRegexTest(looksFor.pattern, looksFor.isForeign === true ? undefined : STEPS_MAX);
  const reach = reachOf(looksFor.pattern);
  // A match that must be at the start is not searched further on.
  const bytesMax = reach?.isAtStart === true ? reach.bytes : Number.POSITIVE_INFINITY;
  const first = firstBytesOf(parseRegex(looksFor.pattern));
  const begins = reach?.isAtStart === true && !first.empty ? tableOf(first.bytes) : null;
  const isIn = (text: string): boolean => {
    if (begins !== null && begins[text.charCodeAt(0) & 0xff] === 0) return false;
    charge(Math.min(text.length, bytesMax) * TEST_STEPS + PIECE_STEPS);
    return pattern.test(text);
  };
  /** Null if searching near the literals is no shorter than searching the whole text. */
  const isNear = (text: string, { bytes, isAtStart }: Reach, spots: Spots): boolean | null => {
    const windows = isAtStart ? [{ start: 0, end: bytes + 1 }] : windowsOf(groups, bytes + 1, spots);
    if (windows === null) return null;
    return windows.some(({ start, end }) => {
      charge((end - start) * TEST_STEPS + WINDOW_STEPS);
      return pattern.test(text.slice(start, end));
    });
  };
  return (given, spots) => {
    const text = beginsValue === true ? given.slice(0, BEGINNING_BYTES_MAX) : given;
    const near = spots === undefined || reach === null || text !== given ? null : isNear(text, reach, spots);
    // A match that begins or ends with a window need not do so with the text.
    const isHit = near === null || (near && reach?.hasEdges === true) ? isIn(text) : near;
    return isHit && unless?.(text) !== true;
  };
}

/** One for each byte that is in the set. */
const tableOf = (bytes: ByteSet): Uint8Array => Uint8Array.from({ length: 256 }, (_, byte) => ((bytes & oneByte(byte)) === 0n ? 0 : 1));

interface Window {
  readonly start: number;
  end: number;
}

/** The surroundings of the rarest group of literals, in order and disjoint; null if they are everywhere. */
function windowsOf(groups: readonly (readonly number[])[], bytes: number, spots: Spots): readonly Window[] | null {
  const windows: Window[] = [];
  const known = groups.map((group) => group.map((literal) => spots.get(literal))).filter((lists) => !lists.includes(null));
  const [rarest] = known.map((lists) => lists.flatMap((list) => list ?? [])).sort((a, b) => a.length - b.length);
  if (rarest === undefined) return null;
  charge(rarest.length * SPOT_STEPS);
  for (const place of rarest.sort((a, b) => a - b)) {
    const last = windows.at(-1);
    const start = Math.max(0, place - bytes);
    if (last !== undefined && start <= last.end) last.end = place + bytes;
    else windows.push({ start, end: place + bytes });
  }
  return windows;
}
