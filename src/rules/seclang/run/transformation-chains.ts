import { charge } from "#rules/budget.ts";
import { maskOfText } from "../prefilter/byte-classes.ts";
import type { Scan } from "../prefilter/scanner.ts";
import { isNarrowing, transformationOf } from "../transformations/transformations.ts";

/** The transformations of a rule, in order. Rules with equal transformations share the results. */
export interface TransformationChain {
  readonly steps: readonly TransformationStep[];
  /** Byte classes that any of its steps changes. */
  readonly touches: Touches;
  /** Those that steps change which may add other bytes than spaces. */
  readonly widens: Touches;
}

/** One transformation: each distinct text is given to it once. */
export interface TransformationStep {
  readonly number: number;
  readonly apply: (text: string) => string;
  readonly touches: Touches;
  /** Whether its result differs from its input only in case. */
  readonly keepsScan: boolean;
}

/** The byte classes without which a text stays unchanged. */
export interface Touches {
  readonly low: number;
  readonly high: number;
  /** Capitals are separate, because their class is that of the lower-case letters. */
  readonly capitals: boolean;
  /** Whether any text may change. */
  readonly anything: boolean;
}

export const NOTHING_TOUCHED: Touches = { low: 0, high: 0, capitals: false, anything: false };

export const joinTouches = (a: Touches, b: Touches): Touches => ({
  low: a.low | b.low,
  high: a.high | b.high,
  capitals: a.capitals || b.capitals,
  anything: a.anything || b.anything,
});

/** Whether a scanned text stays unchanged. */
export const leaves = ({ low, high, capitals, anything }: Touches, scan: Scan): boolean =>
  !anything && (scan.low & low) === 0 && (scan.high & high) === 0 && !(capitals && scan.hasCapitals);

export interface TransformationChains {
  of(names: readonly string[]): TransformationChain;
}

export function createTransformationChains(): TransformationChains {
  const chains = new Map<string, TransformationChain>();
  const steps = new Map<string, TransformationStep>();
  const stepOf = (name: string): TransformationStep => {
    let step = steps.get(name);
    if (step === undefined) steps.set(name, (step = createStep(name, steps.size)));
    return step;
  };
  return {
    of: (names) => {
      const key = names.join();
      let chain = chains.get(key);
      if (chain === undefined) {
        const own = names.map(stepOf);
        const wide = own.filter((_, at) => !isNarrowing(names[at]!));
        chains.set(key, (chain = { steps: own, touches: touchesOf(own), widens: touchesOf(wide) }));
      }
      return chain;
    },
  };
}

const touchesOf = (steps: readonly TransformationStep[]): Touches =>
  steps.reduce((all, { touches }) => joinTouches(all, touches), NOTHING_TOUCHED);

function createStep(name: string, number: number): TransformationStep {
  const row = transformationOf(name);
  if (row === undefined) throw new Error(`unknown transformation ${name}`);
  if (row.touches === null) return { number, apply: row.apply, touches: { ...NOTHING_TOUCHED, anything: true }, keepsScan: false };
  const capitals = /[A-Z]/.test(row.touches);
  const touches = { ...maskOfText(row.touches.replace(/[A-Z]/g, "")), capitals, anything: false };
  return { number, apply: row.apply, touches, keepsScan: name === "lowercase" };
}

const BYTE_STEPS = 4;

export function applyStep({ apply }: TransformationStep, text: string): string {
  charge(text.length * BYTE_STEPS);
  return apply(text);
}

export const transform = ({ steps }: TransformationChain, value: string): string =>
  steps.length === 0 ? value : steps.reduce((text, step) => applyStep(step, text), value);

/** The value, and its results after each transformation that changes it. */
export function transformEach({ steps }: TransformationChain, value: string): readonly string[] {
  const texts = [value];
  for (const step of steps) {
    const last = texts.at(-1)!;
    const next = applyStep(step, last);
    if (next !== last) texts.push(next);
  }
  return texts;
}
