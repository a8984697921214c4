/**
 * The text around a value, one char per byte: at most PLACE_BYTES before it, and up to the end of its window (scan.ts)
 * after it.
 */
export interface SurroundingText {
  readonly before: string;
  readonly behind: string;
}

/** Bytes before a value that can identify its position. */
const PLACE_BYTES = 256;

/**
 * A position in which a match means something else. Of two detectors that share their patterns, one can get the matches
 * in it, and the other one the rest.
 */
export interface ValuePlace {
  readonly holds: (value: string, surroundings: SurroundingText) => boolean;
  readonly isWanted: boolean;
}

/** Whether the value at `view[from, to)` is in the wanted position; `end` is the end of the match's window. */
export function isInPlace({ holds, isWanted }: ValuePlace, view: Buffer, from: number, to: number, end: number): boolean {
  const text = (start: number, stop: number): string => view.toString("latin1", Math.max(0, start), Math.min(stop, view.length));
  return holds(text(from, to), { before: text(from - PLACE_BYTES, from), behind: text(to, end) }) === isWanted;
}
