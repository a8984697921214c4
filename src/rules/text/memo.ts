import { charge, evaluation } from "#rules/budget.ts";

/**
 * Remembers the last result by its arguments. Rules of a zone compute the same values of one request in a row; identical
 * strings compare at once, so a hit costs almost nothing, and nothing must be cleared when a request ends.
 */
export function rememberLast<A, T>(compute: (argument: A) => T): (argument: A) => T {
  let known: { readonly argument: A; readonly result: T } | undefined;
  return (argument) => {
    if (known === undefined || known.argument !== argument) known = { argument, result: compute(argument) };
    return known.result;
  };
}

export function rememberLastOfTwo<A, B, T>(compute: (a: A, b: B) => T): (a: A, b: B) => T {
  let known: { readonly a: A; readonly b: B; readonly result: T } | undefined;
  return (a, b) => {
    if (known === undefined || known.a !== a || known.b !== b) known = { a, b, result: compute(a, b) };
    return known.result;
  };
}

// A power of two.
const SLOTS = 8;

/** Cost of making a result, in bytes of text. */
const MAKING_BYTES = 10;

/**
 * Remembers results by the argument, for several alternating texts, each in a slot chosen by its length. Each evaluation
 * pays for a result once, even if it was remembered before.
 */
export function rememberTexts<T>(compute: (text: string) => T, stepsPerByte = 0): (text: string) => T {
  const texts: (string | undefined)[] = Array.from({ length: SLOTS });
  const results: (T | undefined)[] = Array.from({ length: SLOTS });
  const paidIn = new Int32Array(SLOTS).fill(-1);
  return (text) => {
    const slot = text.length & (SLOTS - 1);
    const isKnown = texts[slot] === text;
    if (!isKnown || paidIn[slot] !== evaluation()) {
      charge((text.length + MAKING_BYTES) * stepsPerByte);
      paidIn[slot] = evaluation();
    }
    if (isKnown) return results[slot] as T;
    const result = compute(text);
    texts[slot] = text;
    results[slot] = result;
    return result;
  };
}
