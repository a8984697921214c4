import { GRAM_BYTES } from "./gram-groups.ts";
import {
  AT,
  BEFORE,
  BREAKS_AT,
  BYTES,
  COUNT,
  DIGIT_COUNT,
  DIGIT_FIRST,
  emit,
  ENDING_SET_AT,
  forEachBit,
  FOUND_AT,
  FROM,
  GRAM,
  GRAM_SET_AT,
  GRAM_SET_BYTES,
  HIGH,
  HITS,
  INPUT_AT,
  INPUT_BYTES,
  inverted,
  LITERALS,
  LOCALS,
  LONGER_SET_AT,
  LOW,
  LOWER_HALF,
  MARGIN,
  MASK_SETS_AT,
  OTHER_SIGN,
  OUT,
  PARAMETERS,
  placeOfBit,
  RUN,
  SIGN,
  TABLE_AT,
  TABLE_BYTES,
  TO,
  WINDOW_MASK,
  ZERO,
} from "./layout.ts";
import { MASK_SET_BYTES, type NumberForms } from "./number-forms.ts";
import { BELOW_DIGITS_END, DIGITS_FROM, fillBreaks, numbers } from "./numbers.ts";
import { bytes16, type Code, constant, get, i32, loopWhile, moduleOf, set, when } from "./wasm.ts";

const NOTHING = new Uint8Array(MARGIN);
const PAGE_BYTES = 65_536;

/**
 * Finds the few positions of a text where a number or a literal may begin, sixteen bytes at a time. It misses none; a
 * position that it returns may be neither.
 */
export interface Prefilter {
  /** The text, of at most INPUT_BYTES; write it here before `run`. */
  readonly input: Buffer;
  /** Positions found by `run`: `place << 1`, plus 1 for a literal. Numbers are in order, and literals are in order. */
  readonly found: Int32Array;
  /** Searches `input[from, to)` and returns the number of positions; `length` is the end of the text. */
  run(from: number, to: number, length: number): number;
}

/** Literals are distinguished by three bytes and sixteen groups (the Teddy algorithm of Hyperscan). */
const SETS = 2;
const GROUPS = 8;
/** The last group is for signs, after which any byte may follow. */
export const GRAM_GROUPS = SETS * GROUPS - 1;

/** Three bytes that represent a literal; positions are those of the first byte. */
export interface Gram {
  readonly bytes: Uint8Array;
  /** The literal's byte after them, if it has one. */
  readonly following: number | undefined;
  readonly group: number;
}

export interface PrefilterOptions {
  readonly grams: readonly Gram[];
  /** Single bytes that are found like literals, whatever follows: at most two. */
  readonly signs: readonly number[];
  /** A byte of which three in a row count only behind another one. */
  readonly run?: number | undefined;
  readonly forms: NumberForms;
}

/** The used part of WebAssembly, which the types of Node.js lack. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

export function createPrefilter({ grams, signs, run: runByte = NO_BYTE, forms }: PrefilterOptions): Prefilter {
  const { exports } = new Instance(compiledModule());
  const memory = (exports["memory"] as { readonly buffer: ArrayBuffer }).buffer;
  const run = exports["run"] as (
    from: number,
    to: number,
    spacedDigitsMin: number,
    sign: number,
    otherSign: number,
    runByte: number,
    cuts: number,
    apart: number,
  ) => number;
  fillSets(memory, grams);
  fillBreaks(new Uint8Array(memory, BREAKS_AT, 2 * TABLE_BYTES));
  fillTables(new Uint8Array(memory, TABLE_AT, SETS * GRAM_BYTES * 2 * TABLE_BYTES), grams, signs);
  [forms.alone, forms.afterSmall, forms.afterCapital].forEach((masks, index) =>
    new Uint8Array(memory, MASK_SETS_AT + index * MASK_SET_BYTES, MASK_SET_BYTES).set(masks),
  );
  const [sign = NO_BYTE, otherSign = sign] = signs;
  const [cuts, apart] = [forms.areCut, forms.areCut && forms.areApart].map((isSo) => (isSo ? -1 : 0)) as [number, number];
  const input = Buffer.from(memory, INPUT_AT, INPUT_BYTES);
  return {
    input,
    found: new Int32Array(memory, FOUND_AT, INPUT_BYTES),
    run: (from, to, length) => {
      // Otherwise bytes of an earlier text after this one would belong to it.
      if (length + MARGIN <= INPUT_BYTES) input.set(NOTHING, length);
      else input.fill(0, length);
      return run(INPUT_AT + from, INPUT_AT + to, forms.spacedDigitsMin, sign, otherSign, runByte, cuts, apart);
    },
  };
}

// Fibonacci hashing: the upper bits of a product with 2^32 over the golden ratio.
const HASH_FACTOR = 0x9e3779b1 | 0;
const HASH_SHIFT = 16;
const hashOf = (gram: number): number => Math.imul(gram, HASH_FACTOR) >>> HASH_SHIFT;

/**
 * Sets that distinguish grams from other accepted bytes: one of all three bytes; one of grams that a certain byte must
 * follow, with that byte; and one of grams that any byte may follow.
 */
function fillSets(memory: ArrayBuffer, grams: readonly Gram[]): void {
  const add = (at: number, gram: number): void => {
    const set = new Uint8Array(memory, at, GRAM_SET_BYTES);
    const hash = hashOf(gram);
    set[hash >> 3] = (set[hash >> 3] as number) | (1 << (hash & 7));
  };
  for (const { bytes, following } of grams) {
    const gram = (bytes[0] as number) | ((bytes[1] as number) << 8) | ((bytes[2] as number) << 16);
    add(GRAM_SET_AT, gram);
    if (following === undefined) add(ENDING_SET_AT, gram);
    else add(LONGER_SET_AT, gram | (following << 24));
  }
}

/** Address of nibble table `half` for byte `place` of the grams in `set`. */
const tableAt = (set: number, place: number, half: number): number => ((set * GRAM_BYTES + place) * 2 + half) * TABLE_BYTES;

function fillTables(tables: Uint8Array, grams: readonly Gram[], signs: readonly number[]): void {
  for (const { bytes, group } of grams) bytes.forEach((byte, place) => permit(tables, group, place, byte));
  if (signs.length === 0) return;
  for (const sign of signs) permit(tables, GRAM_GROUPS, 0, sign);
  for (let place = 1; place < GRAM_BYTES; place++)
    for (let nibble = 0; nibble < 16; nibble++) permit(tables, GRAM_GROUPS, place, nibble * 17);
}

function permit(tables: Uint8Array, group: number, place: number, byte: number): void {
  const set = Math.floor(group / GROUPS);
  for (const at of [tableAt(set, place, 0) + (byte & 15), tableAt(set, place, 1) + (byte >> 4)])
    tables[at] = (tables[at] as number) | (1 << (group % GROUPS));
}

export const AT_SIGN = 0x40;
export const COLON = 0x3a;
const NO_BYTE = 256;

/** The possible groups of byte `place` of a gram, for the sixteen bytes in LOW and HIGH. */
const groupsOf = (set: number, place: number): Code => {
  const half = (which: number, nibbles: number): Code =>
    bytes16.swizzle(bytes16.load(constant(TABLE_AT), tableAt(set, place, which)), get(nibbles));
  return bytes16.and(half(0, LOW), half(1, HIGH));
};

/** The groups whose three bytes may be at each position, in HITS and the next local. */
const gramGroups: Code = Array.from({ length: GRAM_BYTES }, (_, place): Code => {
  const bytes = place === 0 ? get(BYTES) : bytes16.load(get(AT), place);
  const sets = Array.from({ length: SETS }, (_, which) =>
    set(HITS + which, place === 0 ? groupsOf(which, 0) : bytes16.and(get(HITS + which), groupsOf(which, place))),
  );
  return [
    ...set(BEFORE, bytes),
    ...set(LOW, bytes16.and(get(BEFORE), get(LOWER_HALF))),
    ...set(HIGH, bytes16.and(bytes16.shiftPairsRight(get(BEFORE), constant(4)), get(LOWER_HALF))),
    ...sets.flat(),
  ];
}).flat();

/** Whether the bit of the hash is set. */
const isHashed = (gram: Code, setAt: number): Code => [
  ...set(COUNT, i32.shiftRight(i32.multiply(gram, constant(HASH_FACTOR)), constant(HASH_SHIFT))),
  ...i32.and(i32.shiftRight(i32.loadByte(i32.shiftRight(get(COUNT), constant(3)), setAt), i32.and(get(COUNT), constant(7))), constant(1)),
];

const firstByte = i32.and(get(GRAM), constant(0xff));
const isSign: Code = i32.or(i32.equal(firstByte, get(SIGN)), i32.equal(firstByte, get(OTHER_SIGN)));

/** The groups also accept bytes that are not a gram; the sets of hashes reject nearly all of those. */
const threeBytes = i32.and(get(GRAM), constant(0xffffff));
const emitGram: Code = [
  ...set(GRAM, i32.load(placeOfBit)),
  ...when(
    i32.or(isHashed(threeBytes, GRAM_SET_AT), isSign),
    when(i32.or(i32.or(isHashed(get(GRAM), LONGER_SET_AT), isHashed(threeBytes, ENDING_SET_AT)), isSign), emit(placeOfBit, 1)),
  ),
];

/** The places with the byte of runs before them and three times from them on. */
const runMask: Code = bytes16.mask(
  [-1, 0, 1, 2]
    .map((place) => bytes16.equal(bytes16.load(i32.add(get(AT), constant(place))), bytes16.splatOf(get(RUN))))
    .reduce((all, one) => bytes16.and(all, one)),
);

const literals: Code = [
  ...gramGroups,
  ...set(LITERALS, inverted(bytes16.mask(bytes16.equal(bytes16.or(get(HITS), get(HITS + 1)), get(ZERO))))),
  // Pictures have thousands of blocks of one letter; only the first may begin a word.
  ...when(i32.equal(get(LITERALS), constant(WINDOW_MASK)), set(LITERALS, i32.and(get(LITERALS), inverted(runMask)))),
  ...forEachBit(LITERALS, emitGram),
];

const BODY: Code = [
  ...set(OUT, constant(FOUND_AT)),
  ...set(AT, get(FROM)),
  ...set(LOWER_HALF, bytes16.splat(15)),
  ...set(ZERO, bytes16.splat(0)),
  ...set(DIGIT_FIRST, bytes16.splat(DIGITS_FROM)),
  ...set(DIGIT_COUNT, bytes16.splat(BELOW_DIGITS_END)),
  ...loopWhile(i32.isZero(i32.atLeast(get(AT), get(TO))), [
    ...set(BYTES, bytes16.load(get(AT))),
    ...numbers,
    ...literals,
    ...set(AT, i32.add(get(AT), constant(16))),
  ]),
  ...i32.shiftRight(i32.subtract(get(OUT), constant(FOUND_AT)), constant(2)),
];

let compiled: object | undefined;

const compiledModule = (): object =>
  (compiled ??= new Module(moduleOf(Math.ceil((INPUT_AT + INPUT_BYTES + MARGIN) / PAGE_BYTES), PARAMETERS, LOCALS, BODY)));
