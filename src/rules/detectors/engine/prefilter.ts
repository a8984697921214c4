import { GRAM_BYTES } from "./gram-groups.ts";
import { FORM_BYTES, MASK_SET_BYTES, type NumberForms } from "./number-forms.ts";
import { SPELLED_STARTS } from "#rules/detectors/checks/separators.ts";
import { bytes16, choose, type Code, constant, get, i32, I32, loopWhile, moduleOf, set, V128, when } from "./wasm.ts";

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

export const INPUT_BYTES = 128 * 1024;
/** Bytes before and after the input that are also read. */
const MARGIN = 64;
const NOTHING = new Uint8Array(MARGIN);
const TABLE_AT = 0;
const GRAM_SET_AT = 1024;
/** A bit for each hash. */
const GRAM_SET_BYTES = 8192;
const LONGER_SET_AT = GRAM_SET_AT + GRAM_SET_BYTES;
const ENDING_SET_AT = LONGER_SET_AT + GRAM_SET_BYTES;
/** For digits after other characters, after a lower-case letter and after a capital. */
const MASK_SETS_AT = ENDING_SET_AT + GRAM_SET_BYTES;
const FOUND_AT = MASK_SETS_AT + 3 * MASK_SET_BYTES;
const INPUT_AT = FOUND_AT + INPUT_BYTES * 4 + MARGIN;
const PAGE_BYTES = 65_536;

/** Literals are distinguished by three bytes and sixteen groups (the Teddy algorithm of Hyperscan). */
const SETS = 2;
const GROUPS = 8;
const TABLE_BYTES = 16;
/** The last group is for signs, after which any byte may follow. */
export const GRAM_GROUPS = SETS * GROUPS - 1;

/** Three bytes that represent a literal; positions are those of the first byte. */
export interface Gram {
  readonly bytes: Uint8Array;
  /** The literal's byte after them, if it has one. */
  readonly following: number | undefined;
  readonly group: number;
}

const WINDOW_MASK = 2 ** FORM_BYTES - 1;

export interface PrefilterOptions {
  readonly grams: readonly Gram[];
  /** Single bytes that are found like literals, whatever follows: at most two. */
  readonly signs: readonly number[];
  readonly forms: NumberForms;
}

/** The used part of WebAssembly, which the types of Node.js lack. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

export function createPrefilter({ grams, signs, forms }: PrefilterOptions): Prefilter {
  const { exports } = new Instance(compiledModule());
  const memory = (exports["memory"] as { readonly buffer: ArrayBuffer }).buffer;
  const run = exports["run"] as (from: number, to: number, spacedDigitsMin: number, sign: number, otherSign: number) => number;
  fillSets(memory, grams);
  fillTables(new Uint8Array(memory, TABLE_AT, SETS * GRAM_BYTES * 2 * TABLE_BYTES), grams, signs);
  [forms.alone, forms.afterSmall, forms.afterCapital].forEach((masks, index) =>
    new Uint8Array(memory, MASK_SETS_AT + index * MASK_SET_BYTES, MASK_SET_BYTES).set(masks),
  );
  const [sign = NO_BYTE, otherSign = sign] = signs;
  const input = Buffer.from(memory, INPUT_AT, INPUT_BYTES);
  return {
    input,
    found: new Int32Array(memory, FOUND_AT, INPUT_BYTES),
    run: (from, to, length) => {
      // Otherwise bytes of an earlier text after this one would belong to it.
      if (length + MARGIN <= INPUT_BYTES) input.set(NOTHING, length);
      else input.fill(0, length);
      return run(INPUT_AT + from, INPUT_AT + to, forms.spacedDigitsMin, sign, otherSign);
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

const [FROM, TO, SPACED, SIGN, OTHER_SIGN] = [0, 1, 2, 3, 4];
const [AT, OUT, LITERALS, STARTS, DIGITS, WORDS, WIDE, BIT, COUNT, CAPITALS, GRAM] = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const [BYTES, BEFORE, LOW, HIGH, HITS] = [16, 17, 18, 19, 20];
/** Constants of the loop, in locals, because a constant inside it would be made in each round. */
const [LOWER_HALF, ZERO, DIGIT_FIRST, DIGIT_COUNT] = [22, 23, 24, 25];

/** Moves `first` to the lowest signed byte. */
const isBetween = (bytes: Code, first: Code, count: Code): Code => bytes16.lessThan(bytes16.subtract(bytes, first), count);
const lowest = (first: number): number => (first + 0x80) & 0xff;
const belowLowest = (count: number): number => 0x80 + count;
const digitMask = (bytes: Code): Code => bytes16.mask(isBetween(bytes, get(DIGIT_FIRST), get(DIGIT_COUNT)));
/** Letters in either case, which differ in one bit, and digits. */
const wordMask = (bytes: Code): Code =>
  bytes16.mask(
    bytes16.or(
      isBetween(bytes, get(DIGIT_FIRST), get(DIGIT_COUNT)),
      isBetween(bytes16.or(bytes, bytes16.splat(0x20)), bytes16.splat(lowest(0x61)), bytes16.splat(belowLowest(26))),
    ),
  );
/** First bytes of separators that are spelled or beyond ASCII. */
const wideMask = (bytes: Code): Code =>
  bytes16.mask(
    Array.from(SPELLED_STARTS, (char) => bytes16.equal(bytes, bytes16.splat(char.charCodeAt(0)))).reduce(
      (all, one) => bytes16.or(all, one),
      bytes,
    ),
  );
const notUnderscoreMask = (bytes: Code): Code => inverted(bytes16.mask(bytes16.equal(bytes, bytes16.splat(UNDERSCORE))));

const UNDERSCORE = 0x5f;

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

const emit = (place: Code, kind: number): Code => [
  ...i32.store(get(OUT), i32.or(i32.shiftLeft(i32.subtract(place, constant(INPUT_AT)), constant(1)), constant(kind))),
  ...set(OUT, i32.add(get(OUT), constant(4))),
];

/** Runs the body for each bit of the mask, from the lowest on, as BIT. */
const forEachBit = (mask: number, body: Code): Code =>
  loopWhile(get(mask), [
    ...set(BIT, i32.trailingZeros(get(mask))),
    ...set(mask, i32.and(get(mask), i32.subtract(get(mask), constant(1)))),
    ...body,
  ]);

const placeOfBit = i32.add(get(AT), get(BIT));
const windowOf = (mask: number): Code => i32.and(i32.shiftRight(get(mask), get(BIT)), constant(WINDOW_MASK));
const isSet = (mask: number): Code => i32.and(i32.shiftRight(get(mask), get(BIT)), constant(1));
const behind = (mask: (bytes: Code) => Code): Code =>
  i32.or(mask(get(BYTES)), i32.shiftLeft(mask(bytes16.load(get(AT), 16)), constant(16)));

const inverted = (mask: Code): Code => i32.xor(mask, constant(WINDOW_MASK));
/** The letters and digits directly before each byte; only the lower sixteen bits count. */
const wordsBefore = wordMask(get(BEFORE));
const capitalsBefore = bytes16.mask(isBetween(get(BEFORE), bytes16.splat(lowest(0x41)), bytes16.splat(belowLowest(26))));

/** Whether the digits of the window have the positions of one of our numbers. */
const isForm: Code = i32.and(
  i32.shiftRight(
    i32.loadByte(
      i32.add(i32.shiftRight(get(COUNT), constant(3)), i32.multiply(i32.add(isSet(GRAM), isSet(CAPITALS)), constant(MASK_SET_BYTES))),
      MASK_SETS_AT,
    ),
    i32.and(get(COUNT), constant(7)),
  ),
  constant(1),
);

/**
 * A position is a number if its digits have the positions of one of ours; otherwise if they may have them with wide separators, or if it
 * begins a long word.
 */
const isNumberOtherwise: Code = i32.or(
  i32.and(i32.atLeast(i32.ones(get(COUNT)), get(SPACED)), i32.isZero(i32.isZero(windowOf(WIDE)))),
  isSet(WORDS),
);
/** Whether any number of the sixteen bytes may be one otherwise. */
const mayOtherwise: Code = i32.or(get(WIDE), get(WORDS));

/** Keeps the bits at which a run of FORM_BYTES set bits begins. */
const runs = (mask: number): Code => [1, 2, 4, 8].flatMap((by) => set(mask, i32.and(get(mask), i32.shiftRight(get(mask), constant(by)))));

const anyOf = (...masks: readonly Code[]): Code => masks.reduce((all, mask) => i32.or(all, mask));
const isByte = (bytes: Code, byte: number): Code => bytes16.mask(bytes16.equal(bytes, bytes16.splat(byte)));
const DOT = 0x2e;
const DASH = 0x2d;
/**
 * Digits of something longer (boundaries.ts): behind a point or a dash that is behind a digit, and fractions without their zero, whose
 * point is behind a sign. Pages, scripts and pictures have thousands of them. LOW holds the bytes two before.
 */
const continued: Code = i32.or(
  i32.and(i32.or(isByte(get(BEFORE), DOT), isByte(get(BEFORE), DASH)), digitMask(get(LOW))),
  i32.and(
    isByte(get(BEFORE), DOT),
    inverted(anyOf(wordMask(get(LOW)), isByte(get(LOW), DOT), isByte(get(LOW), UNDERSCORE), bytes16.mask(get(LOW)))),
  ),
);

const numbers = when(digitMask(get(BYTES)), [
  ...set(BEFORE, bytes16.load(i32.subtract(get(AT), constant(1)))),
  ...set(DIGITS, behind(digitMask)),
  // A digit without a digit before it, and without an underscore, which makes it part of a name.
  ...set(STARTS, i32.and(i32.and(get(DIGITS), inverted(digitMask(get(BEFORE)))), notUnderscoreMask(get(BEFORE)))),
  ...when(get(STARTS), [
    ...set(LOW, bytes16.load(i32.subtract(get(AT), constant(2)))),
    ...set(STARTS, i32.and(get(STARTS), inverted(continued))),
  ]),
  ...when(get(STARTS), [
    ...set(WORDS, behind(wordMask)),
    ...set(WIDE, behind(wideMask)),
    ...set(GRAM, wordsBefore),
    ...set(CAPITALS, capitalsBefore),
    ...runs(WORDS),
    ...set(WORDS, i32.and(get(WORDS), inverted(get(GRAM)))),
    ...forEachBit(STARTS, [
      ...set(COUNT, windowOf(DIGITS)),
      ...choose(isForm, emit(placeOfBit, 0), when(mayOtherwise, when(isNumberOtherwise, emit(placeOfBit, 0)))),
    ]),
  ]),
]);

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

const literals: Code = [
  ...gramGroups,
  ...set(LITERALS, inverted(bytes16.mask(bytes16.equal(bytes16.or(get(HITS), get(HITS + 1)), get(ZERO))))),
  ...forEachBit(LITERALS, emitGram),
];

const BODY: Code = [
  ...set(OUT, constant(FOUND_AT)),
  ...set(AT, get(FROM)),
  ...set(LOWER_HALF, bytes16.splat(15)),
  ...set(ZERO, bytes16.splat(0)),
  ...set(DIGIT_FIRST, bytes16.splat(lowest(0x30))),
  ...set(DIGIT_COUNT, bytes16.splat(belowLowest(10))),
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
      5,
      [
        [GRAM + 1 - AT, I32],
        [DIGIT_COUNT + 1 - BYTES, V128],
      ],
      BODY,
    ),
  ));
