import { FORM_BYTES, MASK_SET_BYTES } from "./number-forms.ts";
import { type Code, constant, get, i32, I32, loopWhile, set, V128 } from "./wasm.ts";

// The memory and the locals of the prefilter's function, and the steps that its parts share.

export const INPUT_BYTES = 128 * 1024;
/** Bytes before and after the input that are also read. */
export const MARGIN = 64;
export const TABLE_AT = 0;
/** The halves of bytes that end every number, behind the tables of grams. */
export const BREAKS_AT = 512;
export const GRAM_SET_AT = 1024;
/** A bit for each hash. */
export const GRAM_SET_BYTES = 8192;
export const LONGER_SET_AT = GRAM_SET_AT + GRAM_SET_BYTES;
export const ENDING_SET_AT = LONGER_SET_AT + GRAM_SET_BYTES;
/** For digits after other characters, after a lower-case letter and after a capital. */
export const MASK_SETS_AT = ENDING_SET_AT + GRAM_SET_BYTES;
export const FOUND_AT = MASK_SETS_AT + 3 * MASK_SET_BYTES;
export const INPUT_AT = FOUND_AT + INPUT_BYTES * 4 + MARGIN;
export const TABLE_BYTES = 16;

/** CUTS and APART are all ones where `areCut` and `areApart` hold (number-forms.ts). */
export const [FROM, TO, SPACED, SIGN, OTHER_SIGN, RUN, CUTS, APART] = [0, 1, 2, 3, 4, 5, 6, 7];
export const [AT, OUT, LITERALS, STARTS, DIGITS, WORDS, WIDE, BIT, COUNT, CAPITALS, GRAM] = [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];
export const [CUT, FREE, POINTS, BLANKS] = [19, 20, 21, 22];
export const [BYTES, BEFORE, LOW, HIGH, HITS] = [23, 24, 25, 26, 27];
/** Constants of the loop, in locals, because a constant inside it would be made in each round. */
export const [LOWER_HALF, ZERO, DIGIT_FIRST, DIGIT_COUNT] = [29, 30, 31, 32];
/** The locals behind the parameters by their types. */
export const LOCALS = [
  [BLANKS + 1 - AT, I32],
  [DIGIT_COUNT + 1 - BYTES, V128],
] as const;
export const PARAMETERS = APART + 1;

export const WINDOW_MASK = 2 ** FORM_BYTES - 1;

export const emit = (place: Code, kind: number): Code => [
  ...i32.store(get(OUT), i32.or(i32.shiftLeft(i32.subtract(place, constant(INPUT_AT)), constant(1)), constant(kind))),
  ...set(OUT, i32.add(get(OUT), constant(4))),
];

/** Runs the body for each bit of the mask, from the lowest on, as BIT. */
export const forEachBit = (mask: number, body: Code): Code =>
  loopWhile(get(mask), [
    ...set(BIT, i32.trailingZeros(get(mask))),
    ...set(mask, i32.and(get(mask), i32.subtract(get(mask), constant(1)))),
    ...body,
  ]);

export const placeOfBit = i32.add(get(AT), get(BIT));
export const inverted = (mask: Code): Code => i32.xor(mask, constant(WINDOW_MASK));
