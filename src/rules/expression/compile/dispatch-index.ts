import type { Work } from "#kernel/process/slices.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { charge } from "#rules/budget.ts";
import { addressBytes, type AddressRange } from "#rules/expression/values/address-set.ts";
import type { Reader } from "./compile.ts";
import { type Guard, PART_BYTES_MIN } from "./index-guards.ts";
import { rememberedLower } from "#rules/text/text-functions.ts";
import { sortingTexts } from "./sorting-texts.ts";
import type { Value } from "#rules/expression/values/value-type.ts";

/** Finds the filters that a value may satisfy. */
export interface Lookup {
  readonly read: Reader;
  /** Calls `found` with numbers of filters, possibly several times with the same one. */
  find(value: Value, found: (numbers: readonly number[]) => void): void;
}

export interface LookupBuilder {
  add(guard: Guard, number: number): void;
  finishing(): Work<Lookup>;
}

/** Measured units of `Work`: for a row of an index, and for a number that it holds or looks up. */
const ROW_UNITS = 1;
const NUMBER_UNITS = 0.1;

/** One for each kind of guard. */
export const LOOKUPS: Readonly<Record<Guard["kind"], (read: Reader) => LookupBuilder>> = {
  exact: createExactLookup,
  address: createAddressLookup,
  part: createPartLookup,
};

function addTo<K>(rows: { get(key: K): number[] | undefined; set(key: K, row: number[]): unknown }, key: K, number: number): void {
  const row = rows.get(key);
  if (row === undefined) rows.set(key, [number]);
  else if (row.at(-1) !== number) row.push(number);
}

function createExactLookup(read: Reader): LookupBuilder {
  // Values of one field have one type, so their texts differ.
  const rows = new LargeMap<number[]>();
  return {
    add: (guard, number) => {
      if (guard.kind === "exact") addTo(rows, String(guard.key), number);
    },
    *finishing() {
      yield ROW_UNITS;
      return {
        read,
        find: (value, found) => {
          const numbers = rows.get(String(value));
          if (numbers !== undefined) found(numbers);
        },
      };
    },
  };
}

/** The ranges of all filters split each other into parts; each part knows its filters. */
function createAddressLookup(read: Reader): LookupBuilder {
  const ranges: Range[] = [];
  return {
    add: (guard, number) => {
      if (guard.kind === "address") ranges.push({ ...bounds(guard.range), number });
    },
    *finishing() {
      const stretches = yield* cutting(ranges);
      return {
        read,
        find: (value, found) => {
          const address = addressBytes(value as string);
          if (address !== undefined) found(stretches.numbers[lastUpTo(stretches.starts, address)] ?? NONE);
        },
      };
    },
  };
}

const NONE: readonly number[] = [];

/** The first address, and the one after the last; the latter is empty if there is none. */
function bounds(range: AddressRange): { readonly low: string; readonly next: string } {
  const next = range.high.slice();
  let at = 15;
  while (at >= 0 && next[at] === 0xff) next[at--] = 0;
  if (at >= 0) next[at] = (next[at] ?? 0) + 1;
  return { low: String.fromCharCode(...range.low), next: at < 0 ? "" : String.fromCharCode(...next) };
}

interface Range {
  readonly low: string;
  readonly next: string;
  readonly number: number;
}

interface Stretches {
  readonly starts: readonly string[];
  readonly numbers: readonly (readonly number[])[];
}

// Ranges that enclose many others would be stored for each of them; beyond this bound, every filter is a candidate.
const ENTRIES_MAX = 200_000;

function* cutting(ranges: readonly Range[]): Work<Stretches> {
  const all: Stretches = { starts: [""], numbers: [ranges.map((range) => range.number)] };
  // Each range is stored at least once.
  if (ranges.length > ENTRIES_MAX) return all;
  const begins = new Map<string, number[]>();
  const ends = new Map<string, number[]>();
  for (const { low, next, number } of ranges) {
    begins.set(low, begins.get(low) ?? []);
    begins.get(low)?.push(number);
    ends.set(next, ends.get(next) ?? []);
    ends.get(next)?.push(number);
    yield ROW_UNITS;
  }
  const starts = yield* sortingTexts([...new Set([...begins.keys(), ...ends.keys()])].filter((start) => start !== ""));
  const active = new Map<number, number>();
  const numbers: number[][] = [];
  let entries = 0;
  for (const start of starts) {
    for (const number of begins.get(start) ?? NONE) active.set(number, (active.get(number) ?? 0) + 1);
    for (const number of ends.get(start) ?? NONE) {
      const times = (active.get(number) ?? 0) - 1;
      if (times === 0) active.delete(number);
      else active.set(number, times);
    }
    entries += active.size;
    if (entries > ENTRIES_MAX) return all;
    numbers.push([...active.keys()]);
    yield ROW_UNITS + active.size * NUMBER_UNITS;
  }
  return { starts, numbers };
}

/** Index of the last text that is not greater; -1 if all are. */
function lastUpTo(sorted: readonly string[], text: string): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] ?? "") <= text) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

// 2^16 marks of one byte: three bytes of text are hashed into them.
const MARKS = 1 << 16;

/**
 * Each text is identified by three consecutive bytes that few others have. One pass over the value finds which of these
 * occur; only their filters are candidates.
 */
function createPartLookup(read: Reader): LookupBuilder {
  const rows: (PartRow & { readonly folded: boolean })[] = [];
  return {
    add: (guard, number) => {
      if (guard.kind === "part") rows.push({ grams: gramsOf(guard.texts), folded: guard.folded, number });
    },
    *finishing() {
      const exact = yield* indexingParts(rows.filter((row) => !row.folded));
      const folded = yield* indexingParts(rows.filter((row) => row.folded));
      return {
        read,
        find: (value, found) => {
          if (exact !== null) exact(value as string, found);
          if (folded !== null) folded(rememberedLower(value as string), found);
        },
      };
    },
  };
}

const FREQUENCY_BITS_MAX = 20;
/** Fibonacci hashing. */
const GOLDEN = 0x9e3779b1;

type FindParts = (value: string, found: (numbers: readonly number[]) => void) => void;

interface PartRow {
  readonly grams: readonly number[];
  readonly number: number;
}

function* indexingParts(rows: readonly PartRow[]): Work<FindParts | null> {
  if (rows.length === 0) return null;
  // Counted by hash: a map of millions of grams would double all at once, and the choice needs no exact numbers.
  const bits = Math.min(FREQUENCY_BITS_MAX, 1 + Math.ceil(Math.log2(1 + rows.reduce((sum, { grams }) => sum + grams.length, 0))));
  const frequency = new Uint32Array(1 << bits);
  const cellOf = (gram: number): number => Math.imul(gram, GOLDEN) >>> (32 - bits);
  for (const { grams } of rows) {
    for (const gram of grams) frequency[cellOf(gram)] = (frequency[cellOf(gram)] ?? 0) + 1;
    yield grams.length * NUMBER_UNITS;
  }
  const numbersByGram = new Map<number, number[]>();
  for (const { grams, number } of rows) {
    let rarest = -1;
    let least = Infinity;
    // Of equally rare ones the last, because addresses and paths differ at their end.
    for (const gram of grams) {
      const count = frequency[cellOf(gram)] ?? 0;
      if (count > least) continue;
      least = count;
      rarest = gram;
    }
    addTo(numbersByGram, rarest, number);
    yield ROW_UNITS + grams.length * NUMBER_UNITS;
  }
  const byGram = new Map<number, Gram>(Array.from(numbersByGram, ([gram, numbers]) => [gram, { numbers, foundIn: 0 }]));
  let passes = 0;
  const marks = new Uint8Array(MARKS);
  for (const gram of byGram.keys()) marks[markOf(gram)] = 1;
  return (value, found) => {
    charge(value.length * GRAM_STEPS);
    const pass = ++passes;
    let gram = (value.charCodeAt(0) << 8) | value.charCodeAt(1);
    for (let i = PART_BYTES_MIN - 1; i < value.length; i++) {
      gram = ((gram << 8) | value.charCodeAt(i)) & 0xff_ffff;
      if (marks[markOf(gram)] === 0) continue;
      const known = byGram.get(gram);
      // Three bytes that occur a thousand times are reported once.
      if (known === undefined || known.foundIn === pass) continue;
      known.foundIn = pass;
      found(known.numbers);
    }
  };
}

/** Steps per byte of a text that is searched for parts if all of its grams are known. */
const GRAM_STEPS = 10;

interface Gram {
  readonly numbers: readonly number[];
  /** The last pass that found it. */
  foundIn: number;
}

const markOf = (gram: number): number => (gram ^ (gram >>> 8)) & (MARKS - 1);

function gramsOf(texts: readonly string[]): readonly number[] {
  const grams = new Set<number>();
  for (const text of texts) {
    for (let i = 0; i + PART_BYTES_MIN <= text.length; i++)
      grams.add((text.charCodeAt(i) << 16) | (text.charCodeAt(i + 1) << 8) | text.charCodeAt(i + 2));
  }
  return [...grams];
}
