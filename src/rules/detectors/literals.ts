import type { DetectorGroup } from "./compiled.ts";

/** A text that detectors begin at. */
export interface Literal {
  readonly bytes: Buffer;
  /** Only at the start of a word. */
  readonly word: boolean;
  readonly groups: readonly DetectorGroup[];
}

interface Filed {
  readonly literal: Literal;
  /** How far behind the literal's start the pair's second byte stands. */
  readonly behind: number;
}

/** What the scanner looks up for each pair of neighbouring bytes: nothing, the start of a number, a name before an at sign, or literals that hold the pair. */
export interface Pairs {
  /** By `first << 8 | second`: 0, NUMBER_START, AT_SIGN, or LITERALS_FROM plus a place in `literals`. */
  readonly table: Uint8Array;
  readonly literals: readonly (readonly Filed[])[];
}

export const NUMBER_START = 1;
export const AT_SIGN = 2;
export const LITERALS_FROM = 3;

/** Each literal is filed under the one of its pairs that other text has least. */
export function createPairs(literals: readonly Literal[], hasNumbers: boolean, hasAtSigns: boolean): Pairs {
  const table = new Uint8Array(65_536);
  const filed: Filed[][] = [];
  if (hasNumbers) {
    for (let first = 0; first < 256; first++) {
      if (isDigit(first)) continue;
      for (let second = ZERO; second <= ZERO + 9; second++) table[(first << 8) | second] = NUMBER_START;
    }
  }
  if (hasAtSigns) for (let first = 0; first < 256; first++) if (isWordByte(first)) table[(first << 8) | AT] = AT_SIGN;
  for (const literal of literals) {
    const at = rarestPair(literal.bytes);
    const pair = ((literal.bytes[at] as number) << 8) | (literal.bytes[at + 1] as number);
    const place = table[pair] as number;
    const entry = { literal, behind: at + 1 };
    if (place >= LITERALS_FROM) filed[place - LITERALS_FROM]?.push(entry);
    else {
      table[pair] = LITERALS_FROM + filed.length;
      filed.push([entry]);
    }
  }
  if (filed.length > 255 - LITERALS_FROM) throw new Error("there are more pairs of literals than the table can tell apart");
  return { table, literals: filed };
}

const ZERO = 0x30;
const AT = 0x40;
const isWordByte = (byte: number): boolean => /[A-Za-z0-9_]/.test(String.fromCharCode(byte));
const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

/** Where the pair begins that text rarely holds: never one with which a number may start. */
function rarestPair(bytes: Buffer): number {
  let best = 0;
  let bestCost = Number.POSITIVE_INFINITY;
  for (let at = 0; at + 1 < bytes.length; at++) {
    const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
    if (!isDigit(first) && isDigit(second)) continue;
    const cost = commonness(first) * commonness(second);
    if (cost < bestCost) [best, bestCost] = [at, cost];
  }
  if (bestCost === Number.POSITIVE_INFINITY) throw new Error(`the literal "${bytes.toString("latin1")}" has no pair to be found by`);
  return best;
}

/** A rough share of each kind of byte in text, JSON and HTML. */
function commonness(byte: number): number {
  const char = String.fromCharCode(byte);
  if (/[etaoinsr]/.test(char)) return 60;
  if (/[a-z]/.test(char)) return /[jqxzkvw]/.test(char) ? 6 : 25;
  if (/[0-9]/.test(char)) return 15;
  if (/[A-Z]/.test(char)) return 6;
  return /[-_./"=<>: ]/.test(char) ? (char === "_" ? 5 : 40) : 3;
}
