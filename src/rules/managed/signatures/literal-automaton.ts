import type { Spots } from "./text-test.ts";

/**
 * Finds all of many literals in one pass over a text (Aho and Corasick, 1975). Time is linear in the text, for any number
 * of literals. Texts have one char per byte.
 */
export interface LiteralAutomaton {
  /** Calls `found` once with the number of each literal that the text has. */
  scan(text: string, found: (literal: number) => void): void;
  /** Does so too, and keeps where each of them ends. */
  scanSpots(text: string, found: (literal: number) => void): Spots & { readonly count: number };
}

/** A literal that is in a text more often is everywhere. */
const SPOTS_MAX = 8192;

/** Bytes that are copied out of a text at once: reading them there takes less time than asking the text for each. */
const CHUNK_BYTES = 16_384;
/** A shorter text is read as it is. */
const COPIED_BYTES_MIN = 128;
const chunk = Buffer.alloc(CHUNK_BYTES);

/** `numbers`: of the literals; their places in the list if absent. */
export function createLiteralAutomaton(
  literals: readonly string[],
  numbers: readonly number[] = literals.map((_, i) => i),
): LiteralAutomaton {
  const { classes, count } = classesOf(literals);
  const states: Int32Array[] = [new Int32Array(count)];
  const ends: number[][] = [[]];
  for (const [i, literal] of literals.entries()) {
    if (literal === "") throw new Error("an empty literal is in every text");
    let state = 0;
    for (let at = 0; at < literal.length; at++) {
      const column = classes[literal.charCodeAt(at)]!;
      const next = states[state]![column]!;
      if (next === 0) {
        states[state]![column] = states.length;
        state = states.length;
        states.push(new Int32Array(count));
        ends.push([]);
      } else state = next;
    }
    ends[state]!.push(numbers[i]!);
  }
  completeStates(states, ends, count);
  const { next, shift, firstEnd, found: founds } = tableOf(states, ends, count);
  const statesOf = new Map<number, number[]>();
  for (const [place, some] of founds.entries())
    for (const literal of some) {
      const known = statesOf.get(literal);
      if (known === undefined) statesOf.set(literal, [firstEnd + place]);
      else known.push(firstEnd + place);
    }

  /** The last scan in which each state was reached. */
  const reachedIn = new Float64Array(founds.length);
  let scans = 0;

  const run = (text: string, reached: (state: number, end: number) => void): void => {
    if (text.length < COPIED_BYTES_MIN) {
      for (let i = 0, state = 0; i < text.length; i++) {
        state = next[(state << shift) | classes[text.charCodeAt(i) & 0xff]!]!;
        if (state >= firstEnd) reached(state, i + 1);
      }
      return;
    }
    for (let from = 0, state = 0; from < text.length; from += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, text.length - from);
      chunk.write(text.slice(from, from + length), 0, length, "latin1");
      for (let i = 0; i < length; i++) {
        state = next[(state << shift) | classes[chunk[i]!]!]!;
        if (state >= firstEnd) reached(state, from + i + 1);
      }
    }
  };

  return {
    scan: (text, found) => {
      const serial = ++scans;
      run(text, (state) => {
        const place = state - firstEnd;
        if (reachedIn[place] === serial) return;
        reachedIn[place] = serial;
        for (const literal of founds[place]!) found(literal);
      });
    },
    scanSpots: (text, found) => {
      const byState = new Map<number, number[]>();
      const lists: number[][] = [];
      const serial = ++scans;
      let kept = 0;
      run(text, (state, end) => {
        const place = state - firstEnd;
        if (reachedIn[place] !== serial) {
          reachedIn[place] = serial;
          byState.set(state, (lists[place] = []));
          for (const literal of founds[place]!) found(literal);
        }
        const list = lists[place]!;
        if (list.length > SPOTS_MAX) return;
        kept++;
        list.push(end);
      });
      return {
        count: kept,
        get: (literal) => {
          const all = (statesOf.get(literal) ?? []).flatMap((state) => byState.get(state) ?? []);
          return all.length === 0 ? undefined : all.length > SPOTS_MAX ? null : all;
        },
      };
    },
  };
}

interface Table {
  readonly next: Uint16Array;
  readonly shift: number;
  /** Literals end in this state and in those after it. */
  readonly firstEnd: number;
  /** The literals of each of these. */
  readonly found: readonly (readonly number[])[];
}

/** The table with a row of a power of two for each state, in which those where a literal ends come last. */
function tableOf(states: readonly Int32Array[], ends: readonly (readonly number[])[], columns: number): Table {
  const shift = Math.ceil(Math.log2(columns));
  const isEnd = (state: number): boolean => ends[state]!.length > 0;
  const order = [...states.keys()].sort((a, b) => Number(isEnd(a)) - Number(isEnd(b)) || a - b);
  const places = new Int32Array(states.length);
  for (const [place, state] of order.entries()) places[state] = place;
  const next = new Uint16Array(states.length << shift);
  for (const [state, row] of states.entries())
    for (const [column, to] of row.entries()) next[(places[state]! << shift) | column] = places[to]!;
  const found = order.filter(isEnd).map((state) => ends[state]!);
  return { next, shift, firstEnd: states.length - found.length, found };
}

/** Bytes that no literal has share a column, so that the table stays small. */
function classesOf(literals: readonly string[]): { readonly classes: Uint8Array; readonly count: number } {
  const classes = new Uint8Array(256);
  let count = 1;
  for (const literal of literals) {
    for (let i = 0; i < literal.length; i++) {
      const byte = literal.charCodeAt(i);
      if (classes[byte] === 0) classes[byte] = count++;
    }
  }
  return { classes, count };
}

/** If a literal does not continue, the state falls back to its longest suffix that begins a literal; breadth first. */
function completeStates(states: readonly Int32Array[], ends: readonly number[][], columns: number): void {
  const fallbacks = new Int32Array(states.length);
  const queue = [...states[0]!].filter((state) => state !== 0);
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at]!;
    const row = states[state]!;
    const fallback = states[fallbacks[state]!]!;
    ends[state]!.push(...ends[fallbacks[state]!]!);
    for (let column = 0; column < columns; column++) {
      const child = row[column]!;
      if (child === 0) row[column] = fallback[column]!;
      else {
        fallbacks[child] = fallback[column]!;
        queue.push(child);
      }
    }
  }
}
