/**
 * Limit of the rules of one request, and again of its response, in steps of about a nanosecond: an eighth of a second of
 * a thread. Code that walks over texts or arrays charges by their length, so that a request ends at the same step on any
 * machine (ADR 0075).
 */
export const STEPS_MAX = 120_000_000;

/** Further steps for each byte of a request's body that rules may have to read: an honest text of 1 MiB takes up to 124 million in Selvedge's own rows. */
const STEPS_OF_BODY_BYTE = 80;

/** Limit of the rules of a request with a body of so many bytes. */
export const stepsMax = (bodyBytes: number): number => STEPS_MAX + bodyBytes * STEPS_OF_BODY_BYTE;

/** Steps of an array's item, beside those of the work on it. */
export const ITEM_STEPS = 30;

/** The rule under evaluation when a request's steps were spent. */
export interface Exhausted {
  readonly phase: string;
  readonly ruleset_id: string;
  /** The first, if several were evaluated at once. */
  readonly rule_id: string;
  readonly rule_description: string;
  /** The rule that executed its ruleset; empty in entry points. */
  readonly deployed_by: string;
  /** Whether it ended the request; a response is sent anyway. */
  readonly ended: boolean;
}

/** `ended`: in a phase of the request. */
export const exhaustedAt = (
  rule: { readonly id: string; readonly description?: string },
  { phase, id }: { readonly phase: string; readonly id: string },
  deployedBy: string,
  ended: boolean,
): Exhausted => ({ phase, ruleset_id: id, rule_id: rule.id, rule_description: rule.description ?? "", deployed_by: deployedBy, ended });

/** Steps that one request has spent in all phases so far. */
export interface Spending {
  steps: number;
  exhausted: Exhausted | null;
}

class StepsSpent extends Error {
  override readonly name = "StepsSpent";
}

// Made once: it is thrown under load, and nobody reads its stack.
const STEPS_SPENT = new StepsSpent("the rules of this request take too many steps");

// Evaluation is synchronous, so a thread has only one at a time. Small integers only, which need no allocation.
let left = STEPS_MAX;
let most = 0;
let isCharging = false;
let current = 0;

/** Counts steps. If they are too many, throws an error that `isStepsSpent` recognizes. */
export function charge(steps: number): void {
  if ((left -= steps) < 0) refuse();
}

/** Outside of an evaluation nothing is charged. */
function refuse(): void {
  if (isCharging) throw STEPS_SPENT;
  left = STEPS_MAX;
}

/** Whether `charge` threw the error. */
export const isStepsSpent = (error: unknown): boolean => error === STEPS_SPENT;

/** Charges this request until `endCharging`, which must be called in the same tick, also after an error. */
export function beginCharging({ steps }: Spending, side: "request" | "response", bodyBytes = 0): void {
  current = (current + 1) & 0x3fff_ffff;
  // The visitor's request must not use up the steps of the response.
  most = stepsMax(bodyBytes) + (side === "request" ? 0 : STEPS_MAX);
  left = most - steps;
  isCharging = true;
}

export function endCharging(spending: Spending): void {
  spending.steps = most - Math.max(0, left);
  left = STEPS_MAX;
  isCharging = false;
}

/** The number of the current evaluation: a remembered result is charged once in each. */
export const evaluation = (): number => current;

/**
 * Remembers the last result, and charges its cost once in each evaluation, for any caller. `isSame`: whether the
 * arguments equal the previous ones.
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

/** Charges for a text once per evaluation, for a result that is remembered. */
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
