import { SPELLED_STARTS } from "#rules/detectors/checks/separators.ts";
import {
  APART,
  AT,
  BEFORE,
  BIT,
  BREAKS_AT,
  BYTES,
  CAPITALS,
  COUNT,
  CUT,
  CUTS,
  DIGIT_COUNT,
  DIGIT_FIRST,
  DIGITS,
  FREE,
  POINTS,
  BLANKS,
  emit,
  forEachBit,
  GRAM,
  HIGH,
  inverted,
  LOW,
  LOWER_HALF,
  MASK_SETS_AT,
  placeOfBit,
  SPACED,
  STARTS,
  TABLE_AT,
  TABLE_BYTES,
  WIDE,
  WINDOW_MASK,
  WORDS,
  ZERO,
} from "./layout.ts";
import { MASK_SET_BYTES } from "./number-forms.ts";
import { bytes16, choose, type Code, constant, get, i32, set, when } from "./wasm.ts";

// The part of the prefilter's function that finds the places of numbers.

/** Bytes that no number has, and that no separator begins with (chains.ts). */
export const BREAKS = "!\"#$'*,:;=>?@[]^`{|}~";

/** Fills the table at BREAKS_AT: the lower and the upper halves of these bytes. */
export function fillBreaks(halves: Uint8Array): void {
  for (const char of BREAKS) {
    const [low, high] = [char.charCodeAt(0) & 15, char.charCodeAt(0) >> 4];
    halves[low] = (halves[low] as number) | (1 << high);
    halves[TABLE_BYTES + high] = 1 << high;
  }
}

/** Moves `first` to the lowest signed byte. */
const isBetween = (bytes: Code, first: Code, count: Code): Code => bytes16.lessThan(bytes16.subtract(bytes, first), count);
const lowest = (first: number): number => (first + 0x80) & 0xff;
const belowLowest = (count: number): number => 0x80 + count;
/** Signed bytes for `isBetween`: the first digit, and what is less than it by one more than the last. */
export const [DIGITS_FROM, BELOW_DIGITS_END] = [lowest(0x30), belowLowest(10)];
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

const SPACE = 0x20;
const SEMICOLON = 0x3b;

const windowOf = (mask: number): Code => i32.and(i32.shiftRight(get(mask), get(BIT)), constant(WINDOW_MASK));
const isSet = (mask: number): Code => i32.and(i32.shiftRight(get(mask), get(BIT)), constant(1));
const behind = (mask: (bytes: Code) => Code): Code =>
  i32.or(mask(get(BYTES)), i32.shiftLeft(mask(bytes16.load(get(AT), 16)), constant(16)));

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

const isOne = (bytes: Code, ...chars: string[]): Code =>
  chars.map((char) => bytes16.equal(bytes, bytes16.splat(char.charCodeAt(0)))).reduce((all, one) => bytes16.or(all, one));
const lowered = (bytes: Code): Code => bytes16.or(bytes, bytes16.splat(0x20));

/** Places of BREAKS. Changes LOW and HIGH. */
const breakMask = (bytes: Code): Code => [
  ...set(HIGH, bytes),
  ...set(LOW, bytes16.swizzle(bytes16.load(constant(TABLE_AT), BREAKS_AT), bytes16.and(get(HIGH), get(LOWER_HALF)))),
  ...set(HIGH, bytes16.and(bytes16.shiftPairsRight(get(HIGH), constant(4)), get(LOWER_HALF))),
  ...set(LOW, bytes16.and(get(LOW), bytes16.swizzle(bytes16.load(constant(TABLE_AT), BREAKS_AT + TABLE_BYTES), get(HIGH)))),
  ...inverted(bytes16.mask(bytes16.equal(get(LOW), get(ZERO)))),
];

/** First bytes of separators of several bytes and of markup, in BEFORE; HIGH holds the bytes behind them. */
const wideStarts: Code = bytes16.mask(
  [
    bytes16.and(isOne(get(BEFORE), "%"), bytes16.or(isOne(get(HIGH), "2"), isOne(lowered(get(HIGH)), "c", "e"))),
    bytes16.and(isOne(get(BEFORE), "\\"), isOne(lowered(get(HIGH)), "u", "n", "r", "t")),
    isOne(get(BEFORE), "&", "<"),
  ].reduce((all, one) => bytes16.or(all, one), get(BEFORE)),
);

const byteBefore = (bytes: number): Code => i32.loadByte(i32.subtract(placeOfBit, constant(bytes)));
const isLetterBefore = (bytes: number): Code =>
  i32.isZero(i32.atLeast(i32.subtract(i32.or(byteBefore(bytes), constant(0x20)), constant(0x61)), constant(26)));
/** Letters directly before the place, or two of them and a separator: an account may have points and blanks. */
const isBehindCountry: Code = anyOf(
  isSet(GRAM),
  i32.and(isLetterBefore(2), isLetterBefore(3)),
  i32.atLeast(byteBefore(1), constant(0x80)),
  i32.equal(byteBefore(1), constant(SEMICOLON)),
);
const lowestOf = (mask: Code): Code => [...set(CUT, mask), ...i32.and(get(CUT), i32.subtract(constant(0), get(CUT)))];

/**
 * A place with the digits of a number is looked at once more: a number ends before the first break, and the points and blanks of one are no
 * breaks only if the number has the other ones not. Drawings and lists of figures have thousands of such places.
 */
const emitUncut: Code = [
  ...set(BEFORE, bytes16.load(placeOfBit)),
  ...set(FREE, i32.and(breakMask(get(BEFORE)), get(CUTS))),
  ...when(i32.and(get(APART), i32.isZero(isBehindCountry)), [
    ...set(POINTS, isByte(get(BEFORE), DOT)),
    ...set(BLANKS, isByte(get(BEFORE), SPACE)),
    ...choose(
      i32.and(get(POINTS), lowestOf(i32.or(get(POINTS), get(BLANKS)))),
      set(FREE, i32.or(get(FREE), get(BLANKS))),
      set(FREE, i32.or(get(FREE), get(POINTS))),
    ),
  ]),
  // The bits before the lowest one; all bits, if none is set.
  ...set(FREE, i32.subtract(lowestOf(get(FREE)), constant(1))),
  ...set(HIGH, bytes16.load(placeOfBit, 1)),
  ...choose(i32.or(i32.and(wideStarts, get(FREE)), isSet(WORDS)), emit(placeOfBit, 0), [
    ...set(COUNT, i32.and(get(COUNT), get(FREE))),
    ...when(isForm, emit(placeOfBit, 0)),
  ]),
];

export const numbers: Code = when(digitMask(get(BYTES)), [
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
      ...choose(isForm, emitUncut, when(mayOtherwise, when(isNumberOtherwise, emitUncut))),
    ]),
  ]),
]);
