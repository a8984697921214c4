/**
 * What the rules of one request may cost, and as much again those of its response, in steps of about a nanosecond: an eighth of a
 * second of a thread. What walks over texts or arrays charges by their length, so that a request is ended at the same step on any
 * machine (ADR 0075).
 */
export const STEPS_MAX = 120_000_000;

/** What an item of an array costs beside what is done with it. */
export const ITEM_STEPS = 30;

/** The rule that was being evaluated when a request's steps were spent. */
export interface Exhausted {
  readonly phase: string;
  readonly ruleset_id: string;
  /** Of several that were looked for at once, the first. */
  readonly rule_id: string;
  readonly rule_description: string;
  /** The rule that executed its ruleset; empty in entry points. */
  readonly deployed_by: string;
  /** Whether the request was ended by it; its response went out otherwise. */
  readonly ended: boolean;
}

/** `ended`: in a phase of the request. */
export const exhaustedAt = (
  rule: { readonly id: string; readonly description?: string },
  { phase, id }: { readonly phase: string; readonly id: string },
  deployedBy: string,
  ended: boolean,
): Exhausted => ({ phase, ruleset_id: id, rule_id: rule.id, rule_description: rule.description ?? "", deployed_by: deployedBy, ended });

/** What one request has spent, from phase to phase. */
export interface Spending {
  steps: number;
  exhausted: Exhausted | null;
}

class StepsSpent extends Error {
  override readonly name = "StepsSpent";
}

// Made once: it is thrown where time is short, and nobody reads where from.
const STEPS_SPENT = new StepsSpent("the rules of this request take too many steps");

// Evaluation never waits, so a thread has one under way at a time. Small integers alone, which cost no memory.
let left = STEPS_MAX;
let most = 0;
let isCharging = false;
let current = 0;

/** Counts steps. Throws, where they are too many, what `isStepsSpent` knows. */
export function charge(steps: number): void {
  if ((left -= steps) < 0) refuse();
}

/** Outside of an evaluation nobody is charged. */
function refuse(): void {
  if (isCharging) throw STEPS_SPENT;
  left = STEPS_MAX;
}

/** What `charge` throws. */
export const isStepsSpent = (error: unknown): boolean => error === STEPS_SPENT;

/** From here on this request is charged, until `endCharging`, which has to follow in the same turn whatever is thrown. */
export function beginCharging({ steps }: Spending, side: "request" | "response"): void {
  current = (current + 1) & 0x3fff_ffff;
  // What a visitor makes the request cost takes nothing from the rules of the response.
  most = side === "request" ? STEPS_MAX : 2 * STEPS_MAX;
  left = most - steps;
  isCharging = true;
}

export function endCharging(spending: Spending): void {
  spending.steps = most - Math.max(0, left);
  left = STEPS_MAX;
  isCharging = false;
}

/** The number of the evaluation under way: what is remembered is paid for once in each. */
export const evaluation = (): number => current;

/**
 * Remembers the last result, and charges what making it has cost once in each evaluation, whoever made it. `isSame`: whether the
 * arguments are those of the last time.
 */
export function rememberCharged<A, T>(compute: (argument: A) => T, isSame: (a: A, b: A) => boolean): (argument: A) => T {
  let known: { readonly argument: A; readonly result: T; readonly steps: number } | undefined;
  let paidIn = -1;
  return (argument) => {
    if (known === undefined || !isSame(known.argument, argument)) {
      const before = left;
      const result = compute(argument);
      known = { argument, result, steps: Math.max(0, before - left) };
      paidIn = current;
    }
    if (paidIn !== current) {
      charge(known.steps);
      paidIn = current;
    }
    return known.result;
  };
}

/** Charges for a text once in an evaluation, where what is made of it is remembered. */
export function createToll(stepsPerByte: number): (text: string) => void {
  let paidIn = -1;
  let paid = "";
  return (text) => {
    if (paidIn === current && paid === text) return;
    charge(text.length * stepsPerByte);
    paidIn = current;
    paid = text;
  };
}
