import { HIGH_BITS, LOW_BITS } from "./byte-classes.ts";

/** Result of one pass over a value: the classes of its bytes, and the lists with a literal in it. */
export interface Scan {
  readonly value: string;
  readonly low: number;
  readonly high: number;
  readonly hasCapitals: boolean;
  readonly hits: readonly number[];
}

/** Lists of lower-case literals, all found in one pass (Aho and Corasick, 1975), ignoring case. */
export interface ScannerBuilder {
  /** The number of a list; a value that has one of its literals is hit by it. */
  add(literals: readonly string[]): number;
  build(): (value: string) => Scan;
}

const NO_HITS: readonly number[] = [];

export function createScannerBuilder(): ScannerBuilder {
  const next: Map<number, number>[] = [new Map()];
  const lists: (number[] | null)[] = [null];
  let count = 0;
  return {
    add: (literals) => {
      for (const literal of literals) {
        let state = 0;
        for (let i = 0; i < literal.length; i++) {
          const byte = lowerByte(literal.charCodeAt(i) & 0xff);
          let to = next[state]!.get(byte);
          if (to === undefined) {
            next[state]!.set(byte, (to = next.length));
            next.push(new Map());
            lists.push(null);
          }
          state = to;
        }
        const ends = (lists[state] ??= []);
        if (ends.at(-1) !== count) ends.push(count);
      }
      return count++;
    },
    build: () => createScan(next, lists, count),
  };
}

const lowerByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);

function createScan(
  next: readonly ReadonlyMap<number, number>[],
  lists: readonly (readonly number[] | null)[],
  count: number,
): (value: string) => Scan {
  const { columns, width } = columnsOf(next);
  const { table, ends } = completeTable(next, lists, columns, width);
  // The last scan that hit each list, so that each is reported once.
  const stamps = new Uint32Array(count);
  let stamp = 0;
  return (value) => {
    let low = 0;
    let high = 0;
    let capitals = 0;
    let state = 0;
    let hits: number[] | null = null;
    for (let i = 0; i < value.length; i++) {
      const byte = value.charCodeAt(i) & 0xff;
      low |= LOW_BITS[byte]!;
      high |= HIGH_BITS[byte]!;
      capitals |= CAPITALS[byte]!;
      state = table[state + columns[byte]!]!;
      // States at which a literal ends are below zero.
      if (state < 0) {
        state = -state - 1;
        if (hits === null) {
          hits = [];
          stamp++;
        }
        const ended = ends[state / width]!;
        for (let j = 0; j < ended.length; j++) {
          const list = ended[j]!;
          if (stamps[list] === stamp) continue;
          stamps[list] = stamp;
          hits.push(list);
        }
      }
    }
    return { value, low, high, hasCapitals: capitals !== 0, hits: hits ?? NO_HITS };
  };
}

const CAPITALS = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? 1 : 0));

/** Bytes that no literal has share a column. */
function columnsOf(next: readonly ReadonlyMap<number, number>[]): { readonly columns: Uint8Array; readonly width: number } {
  const columns = new Uint8Array(256);
  let width = 1;
  for (const edges of next) for (const byte of edges.keys()) if (columns[byte] === 0) columns[byte] = width++;
  for (let byte = 0x41; byte <= 0x5a; byte++) columns[byte] = columns[byte + 32]!;
  return { columns, width };
}

/** If a literal does not continue, the state falls back to its longest suffix that begins a literal; breadth first. */
function completeTable(
  next: readonly ReadonlyMap<number, number>[],
  lists: readonly (readonly number[] | null)[],
  columns: Uint8Array,
  width: number,
): { readonly table: Int32Array; readonly ends: readonly (Int32Array | null)[] } {
  const table = new Int32Array(next.length * width);
  const fallbacks = new Int32Array(next.length);
  const ends: (Int32Array | null)[] = lists.map((list) => (list === null ? null : Int32Array.from(list)));
  const queue = [0];
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head]!;
    const fallback = fallbacks[state]!;
    if (state !== 0) {
      table.copyWithin(state * width, fallback * width, (fallback + 1) * width);
      const inherited = ends[fallback];
      if (inherited !== null && inherited !== undefined) ends[state] = Int32Array.from(new Set([...(ends[state] ?? []), ...inherited]));
    }
    for (const [byte, to] of next[state]!) {
      const column = columns[byte]!;
      fallbacks[to] = state === 0 ? 0 : table[fallback * width + column]!;
      table[state * width + column] = to;
      queue.push(to);
    }
  }
  for (let i = 0; i < table.length; i++) {
    const to = table[i]!;
    table[i] = ends[to] === null ? to * width : -(to * width) - 1;
  }
  return { table, ends };
}
