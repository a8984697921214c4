/** The text around a value, one char a byte: at most PLACE_BYTES before it, and up to the end of its window (scan.ts) behind it. */
export interface Surroundings {
  readonly before: string;
  readonly behind: string;
}

/** Bytes before a value that a place may be told by. */
const PLACE_BYTES = 256;

/** A place in which what is found is something else: of two detectors that share their patterns, each has what is in it, or what is not. */
export interface ValuePlace {
  readonly holds: (value: string, surroundings: Surroundings) => boolean;
  readonly isWanted: boolean;
}

/** Whether what stands at `view[from, to)` is where the place says; `end` is where the window of the match ends. */
export function isInPlace({ holds, isWanted }: ValuePlace, view: Buffer, from: number, to: number, end: number): boolean {
  const text = (start: number, stop: number): string => view.toString("latin1", Math.max(0, start), Math.min(stop, view.length));
  return holds(text(from, to), { before: text(from - PLACE_BYTES, from), behind: text(to, end) }) === isWanted;
}
