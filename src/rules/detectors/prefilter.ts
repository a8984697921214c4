import { bytes16, type Code, constant, get, i32, I32, loopWhile, moduleOf, set, V128, when } from "./wasm.ts";

/**
 * Finds the few places of a text where a number or a literal may begin, sixteen bytes at a time. What it leaves out holds
 * neither; what it gives may be nothing.
 */
export interface Prefilter {
  /** The text, of at most INPUT_BYTES: written here before `run`. */
  readonly input: Buffer;
  /** Places found by `run`: `place << 1`, and 1 more for a literal. Numbers come in order, and literals do. */
  readonly found: Int32Array;
  /** Looks at `input[from, to)` and gives the number of places; `length` is where the text ends. */
  run(from: number, to: number, length: number): number;
}

export const INPUT_BYTES = 128 * 1024;
/** Bytes before and behind the input that are read along with it. */
const MARGIN = 64;
const TABLE_AT = 0;
const GRAM_SET_AT = 1024;
const GRAM_SET_BYTES = 8192;
const FOUND_AT = GRAM_SET_AT + GRAM_SET_BYTES;
const INPUT_AT = FOUND_AT + INPUT_BYTES * 4 + MARGIN;
const PAGE_BYTES = 65_536;

/** Literals are told apart by three bytes and sixteen groups of them (the Teddy algorithm of Hyperscan). */
export const GRAM_BYTES = 3;
const SETS = 2;
const GROUPS = 8;
const TABLE_BYTES = 16;

const NO_NUMBERS = 17;

/** A number counts where so many digits stand among its first sixteen bytes, or where these are one word. */
const WINDOW_MASK = 0xffff;

export interface PrefilterOptions {
  /** Three bytes of each literal; places are those of their first byte. */
  readonly grams: readonly Uint8Array[];
  /** At signs are found as literals are. */
  readonly hasAtSigns: boolean;
  /** How many digits stand at least among the first sixteen bytes of a number; undefined where none is looked for. */
  readonly digitsMin: number | undefined;
}

/** What is used of WebAssembly, which the types of Node leave out. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

export function createPrefilter({ grams, hasAtSigns, digitsMin }: PrefilterOptions): Prefilter {
  const { exports } = new Instance(compiledModule());
  const memory = (exports["memory"] as { readonly buffer: ArrayBuffer }).buffer;
  const run = exports["run"] as (from: number, to: number, digitsMin: number) => number;
  const gramSet = new Uint8Array(memory, GRAM_SET_AT, GRAM_SET_BYTES);
  for (const [first = 0, second = 0, third = 0] of grams) gramSet[hashOf(first | (second << 8) | (third << 16))] = 1;
  fillTables(new Uint8Array(memory, TABLE_AT, SETS * GRAM_BYTES * 2 * TABLE_BYTES), grams, hasAtSigns);
  const input = Buffer.from(memory, INPUT_AT, INPUT_BYTES);
  const least = digitsMin ?? NO_NUMBERS;
  return {
    input,
    found: new Int32Array(memory, FOUND_AT, INPUT_BYTES),
    run: (from, to, length) => {
      // Bytes of an earlier text behind this one would count as its own.
      input.fill(0, length, Math.min(length + MARGIN, INPUT_BYTES));
      return run(INPUT_AT + from, INPUT_AT + to, least);
    },
  };
}

// Fibonacci hashing: the upper bits of a product with 2^32 over the golden ratio.
const HASH_FACTOR = 0x9e3779b1 | 0;
const HASH_SHIFT = 19;
const hashOf = (gram: number): number => Math.imul(gram, HASH_FACTOR) >>> HASH_SHIFT;

/** The place of nibble table `half` for byte `place` of the grams in `set`. */
const tableAt = (set: number, place: number, half: number): number => ((set * GRAM_BYTES + place) * 2 + half) * TABLE_BYTES;

/** Alike grams share a group, so that few combinations of their bytes are taken for grams. */
function fillTables(tables: Uint8Array, grams: readonly Uint8Array[], hasAtSigns: boolean): void {
  const sorted = grams.toSorted((a, b) => Buffer.compare(a, b));
  // The last group is left to at signs, behind which anything may stand.
  const groups = SETS * GROUPS - 1;
  sorted.forEach((gram, index) => {
    const group = Math.floor((index * groups) / sorted.length);
    gram.forEach((byte, place) => permit(tables, group, place, byte));
  });
  if (!hasAtSigns) return;
  permit(tables, groups, 0, AT_SIGN);
  for (let place = 1; place < GRAM_BYTES; place++) for (let nibble = 0; nibble < 16; nibble++) permit(tables, groups, place, nibble * 17);
}

function permit(tables: Uint8Array, group: number, place: number, byte: number): void {
  const set = Math.floor(group / GROUPS);
  for (const at of [tableAt(set, place, 0) + (byte & 15), tableAt(set, place, 1) + (byte >> 4)])
    tables[at] = (tables[at] as number) | (1 << (group % GROUPS));
}

export const AT_SIGN = 0x40;

const [FROM, TO, DIGITS_MIN, AT, OUT, LITERALS, STARTS, DIGITS, WORDS, WORD_STARTS, BIT, GRAM] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const [BYTES, NEXT, AFTER, LOW, HIGH, HITS] = [12, 13, 14, 15, 16, 17];

const isBetween = (bytes: Code, first: number, count: number): Code =>
  bytes16.lessThan(bytes16.subtract(bytes, bytes16.splat(first)), bytes16.splat(count));
const digitMask = (bytes: Code): Code => bytes16.mask(isBetween(bytes, 0x30, 10));
/** Letters in either case, which a bit tells apart, and digits. */
const wordMask = (bytes: Code): Code =>
  bytes16.mask(bytes16.or(isBetween(bytes, 0x30, 10), isBetween(bytes16.or(bytes, bytes16.splat(0x20)), 0x61, 26)));

/** The groups that byte `place` of a gram may belong to, for the sixteen bytes in LOW and HIGH. */
const groupsOf = (set: number, place: number): Code => {
  const half = (which: number, nibbles: number): Code =>
    bytes16.swizzle(bytes16.load(constant(TABLE_AT), tableAt(set, place, which)), get(nibbles));
  return bytes16.and(half(0, LOW), half(1, HIGH));
};

const gramGroups = (which: number): Code => {
  const parts = [BYTES, NEXT, AFTER].map((bytes, place): Code => [
    ...set(LOW, bytes16.and(get(bytes), bytes16.splat(15))),
    ...set(HIGH, bytes16.shiftRight(get(bytes), constant(4))),
    ...set(HITS + which, place === 0 ? groupsOf(which, 0) : bytes16.and(get(HITS + which), groupsOf(which, place))),
  ]);
  return parts.flat();
};

const emit = (place: Code, kind: number): Code => [
  ...i32.store(get(OUT), i32.or(i32.shiftLeft(i32.subtract(place, constant(INPUT_AT)), constant(1)), constant(kind))),
  ...set(OUT, i32.add(get(OUT), constant(4))),
];

/** Each bit of the mask from the lowest on, as BIT. */
const forEachBit = (mask: number, body: Code): Code =>
  loopWhile(get(mask), [
    ...set(BIT, i32.trailingZeros(get(mask))),
    ...set(mask, i32.and(get(mask), i32.subtract(get(mask), constant(1)))),
    ...body,
  ]);

const placeOfBit = i32.add(get(AT), get(BIT));
const windowOf = (mask: number): Code => i32.and(i32.shiftRight(get(mask), get(BIT)), constant(WINDOW_MASK));
const behind = (mask: (bytes: Code) => Code): Code =>
  i32.or(mask(get(BYTES)), i32.shiftLeft(mask(bytes16.load(get(AT), 16)), constant(16)));

const before = bytes16.load(i32.subtract(get(AT), constant(1)));
const inverted = (mask: Code): Code => i32.xor(mask, constant(WINDOW_MASK));

const numbers = when(digitMask(get(BYTES)), [
  ...set(DIGITS, behind(digitMask)),
  ...set(WORDS, behind(wordMask)),
  // Where a digit stands and none before it.
  ...set(STARTS, i32.and(i32.and(get(DIGITS), constant(WINDOW_MASK)), inverted(digitMask(before)))),
  ...set(WORD_STARTS, i32.and(get(STARTS), inverted(wordMask(before)))),
  ...forEachBit(
    STARTS,
    when(
      i32.or(
        i32.atLeast(i32.ones(windowOf(DIGITS)), get(DIGITS_MIN)),
        i32.and(i32.equal(windowOf(WORDS), constant(WINDOW_MASK)), i32.and(i32.shiftRight(get(WORD_STARTS), get(BIT)), constant(1))),
      ),
      emit(placeOfBit, 0),
    ),
  ),
]);

/** The groups let some bytes pass that are no gram; the set of hashes hardly any of those. */
const isGram: Code = i32.or(
  i32.loadByte(
    i32.shiftRight(i32.multiply(i32.and(get(GRAM), constant(0xffffff)), constant(HASH_FACTOR)), constant(HASH_SHIFT)),
    GRAM_SET_AT,
  ),
  i32.equal(i32.and(get(GRAM), constant(0xff)), constant(AT_SIGN)),
);

const literals: Code = [
  ...set(NEXT, bytes16.load(get(AT), 1)),
  ...set(AFTER, bytes16.load(get(AT), 2)),
  ...gramGroups(0),
  ...gramGroups(1),
  ...set(LITERALS, inverted(bytes16.mask(bytes16.equal(bytes16.or(get(HITS), get(HITS + 1)), bytes16.splat(0))))),
  ...forEachBit(LITERALS, [...set(GRAM, i32.load(placeOfBit)), ...when(isGram, emit(placeOfBit, 1))]),
];

const BODY: Code = [
  ...set(OUT, constant(FOUND_AT)),
  ...set(AT, get(FROM)),
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
  (compiled ??= new Module(
    moduleOf(
      Math.ceil((INPUT_AT + INPUT_BYTES + MARGIN) / PAGE_BYTES),
      3,
      [
        [GRAM + 1 - AT, I32],
        [HITS + SETS - BYTES, V128],
      ],
      BODY,
    ),
  ));
