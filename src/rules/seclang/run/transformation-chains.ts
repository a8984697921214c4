import { charge } from "#rules/budget.ts";
import { maskOfText } from "../prefilter/byte-classes.ts";
import type { Scan } from "../prefilter/scanner.ts";
import { type Transformation, transformationOf } from "../transformations/transformations.ts";

/** The transformations of a rule, in order. Rules that have the same ones share what comes of them. */
export interface TransformationChain {
  readonly number: number;
  readonly steps: readonly Transformation[];
  /** The classes of bytes without which every text stays as it is. */
  readonly low: number;
  readonly high: number;
  /** Capitals count for themselves: their class is that of the small letters. */
  readonly touchesCapitals: boolean;
}

export interface TransformationChains {
  of(names: readonly string[]): TransformationChain;
  readonly all: readonly TransformationChain[];
}

export function createTransformationChains(): TransformationChains {
  const known = new Map<string, TransformationChain>();
  const all: TransformationChain[] = [];
  return {
    all,
    of: (names) => {
      const key = names.join();
      let chain = known.get(key);
      if (chain === undefined) {
        chain = createChain(names, all.length);
        known.set(key, chain);
        all.push(chain);
      }
      return chain;
    },
  };
}

function createChain(names: readonly string[], number: number): TransformationChain {
  const steps = names.map((name) => {
    const step = transformationOf(name);
    if (step === undefined) throw new Error(`unknown transformation ${name}`);
    return step;
  });
  let low = 0;
  let high = 0;
  let touchesCapitals = false;
  for (const { touches } of steps) {
    if (touches === null) return { number, steps, low: -1, high: -1, touchesCapitals: true };
    const isCapital = /[A-Z]/.test(touches);
    const mask = maskOfText(touches.replace(/[A-Z]/g, ""));
    touchesCapitals ||= isCapital;
    low |= mask.low;
    high |= mask.high;
  }
  return { number, steps, low, high, touchesCapitals };
}

/** Whether a chain leaves a scanned value as it is. */
export const leaves = ({ low, high, touchesCapitals, steps }: TransformationChain, scan: Scan): boolean =>
  steps.length === 0 || ((scan.low & low) === 0 && (scan.high & high) === 0 && !(touchesCapitals && scan.hasCapitals) && low !== -1);

const STEP_STEPS = 4;

export function transform(chain: TransformationChain, value: string): string {
  let text = value;
  for (const { apply } of chain.steps) {
    charge(text.length * STEP_STEPS);
    text = apply(text);
  }
  return text;
}

/** The value, and what it becomes with each transformation that changes it. */
export function transformEach(chain: TransformationChain, value: string): readonly string[] {
  const texts = [value];
  for (const { apply } of chain.steps) {
    charge(texts.at(-1)!.length * STEP_STEPS);
    const next = apply(texts.at(-1)!);
    if (next !== texts.at(-1)) texts.push(next);
  }
  return texts;
}
