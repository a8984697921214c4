import type { PlacedText } from "./placed-texts.ts";

/** Beginnings of keys with fewer characters pass at once, because they reveal nothing of a key. */
const HELD_CHARACTERS_MIN = 3;

export type ByteSpan = readonly [from: number, to: number];

export interface Held {
  readonly raw: Buffer;
  /** Its number among all events. */
  readonly at: number;
  hasPassed: boolean;
  /** The bytes to mask in it. */
  readonly spans: ByteSpan[];
  /** Channels whose beginning of a key starts here, among the events that have not passed. */
  waiters: number;
}

/** Some characters of a text of an event. */
export interface Piece {
  /** Undefined once the event has been passed. */
  readonly held: Held | undefined;
  /** Undefined if only the number of characters matters. */
  readonly text: PlacedText | undefined;
  readonly from: number;
  readonly to: number;
}

/** The prefix of a key at the end of a channel's text. */
export interface Beginning {
  readonly said: string;
  readonly pieces: readonly Piece[];
}

/** The first event with characters of a beginning that is long enough to wait for, and that has not passed. */
export function firstHeld(beginnings: readonly Beginning[]): Held | undefined {
  let first: Held | undefined;
  for (const { said, pieces } of beginnings) {
    const held = said.length < HELD_CHARACTERS_MIN ? undefined : pieces.find((piece) => piece.held?.hasPassed === false)?.held;
    if (held !== undefined && (first === undefined || held.at < first.at)) first = held;
  }
  return first;
}

export const passedPiece = (said: string): Piece => ({ held: undefined, text: undefined, from: 0, to: said.length });

/** The chunks of the last `length` characters. */
export function lastOf(pieces: readonly Piece[], length: number): readonly Piece[] {
  const kept: Piece[] = [];
  let left = length;
  for (let i = pieces.length - 1; i >= 0 && left > 0; i--) {
    const piece = pieces[i] as Piece;
    const taken = Math.min(left, piece.to - piece.from);
    if (taken > 0) kept.unshift({ ...piece, from: piece.to - taken });
    left -= taken;
  }
  return kept;
}

/** The length of the longest suffix of the text that is a prefix of a key. */
export function beginningAtEnd(text: string, keys: readonly string[]): number {
  let longest = 0;
  const last = text.charCodeAt(text.length - 1);
  for (const key of keys)
    for (let length = Math.min(text.length, key.length - 1); length > longest; length--)
      if (key.charCodeAt(length - 1) === last && text.endsWith(key.slice(0, length))) longest = length;
  return longest;
}
