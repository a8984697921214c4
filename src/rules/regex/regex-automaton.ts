import { RE2JS } from "re2js";
import { charge } from "#rules/budget.ts";
import type { Learner, LearnedStates } from "./learned-states.ts";
import { RegexError } from "./regex-syntax.ts";

/** Runs any pattern in time that is linear in the text; in the worst case also in the pattern's size. */
export interface Automaton {
  test(text: string): boolean;
  /** The first match, or null. */
  find(text: string): AutomatonMatch | null;
}

export interface AutomatonMatch {
  readonly start: number;
  readonly end: number;
  /** Empty if the group had no part in the match, or does not exist. */
  group(number: number): string;
}

// Steps per byte between known states; of a new state, and of each pattern position in it; per byte and pattern position
// if states cannot be kept; and per position that is tried with captures.
const BYTE_STEPS = 25;
const STATE_STEPS = 3000;
const STATE_PLACE_STEPS = 500;
const PLACE_STEPS = 8;

/**
 * If text and pattern have at most this many positions, the library finds captures by backtracking, which visits each
 * position once.
 */
const TRIED_PLACES_MAX = 262_144;

/** Limit of remembered states per pattern, below the library's own limit. */
const STATES_BYTES_MAX = 1 << 20;

/** Its learned states count in `states`. Throws RegexError. */
export function createAutomaton(source: string, states: LearnedStates): Automaton {
  const automaton = compile(source);
  const size = automaton.re2Input.numberOfInstructions() as number;
  const { dfa } = automaton.re2Input;
  chargeStates(automaton);
  const learner: Learner = {
    get bytes() {
      return dfa.stateBudget - dfa.memBudget;
    },
    forget: () => {
      dfa.clearCache();
      left = dfa.memBudget;
    },
  };
  let left: number = dfa.memBudget;
  /** A text that is stopped by its steps has taught something too. */
  const learning = <T>(run: () => T): T => {
    try {
      return run();
    } finally {
      if (dfa.memBudget !== left) {
        left = dfa.memBudget;
        states.learned(learner);
      }
    }
  };
  return {
    test: (text) => {
      charge(text.length * BYTE_STEPS);
      return learning(() => automaton.test(text));
    },
    find: (text) => {
      charge(text.length * BYTE_STEPS + Math.min(text.length * size, TRIED_PLACES_MAX) * PLACE_STEPS);
      const matcher = automaton.matcher(text);
      if (!learning(() => matcher.find())) return null;
      const groups = automaton.groupCount();
      return { start: matcher.start(), end: matcher.end(), group: (number) => (number > groups ? "" : (matcher.group(number) ?? "")) };
    },
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new RegexError(error instanceof Error ? error.message : String(error), 0);
  }
}

/** The library's time depends on the states that a text reaches, and only it knows when it makes one, or stops keeping them. */
function chargeStates({ re2Input: machine }: RE2JS): void {
  const { dfa } = machine;
  dfa.maxMem = dfa.stateBudget = dfa.memBudget = STATES_BYTES_MAX;
  const step = dfa.step.bind(dfa);
  dfa.step = (state: { readonly nfaStates: readonly unknown[] }, ...rest) => {
    charge(STATE_STEPS + state.nfaStates.length * STATE_PLACE_STEPS);
    return step(state, ...rest) as unknown;
  };
  const size = machine.numberOfInstructions() as number;
  const run = machine.doExecuteNFA.bind(machine);
  machine.doExecuteNFA = (input: { endPos(): number }, ...rest) => {
    charge(input.endPos() * size * PLACE_STEPS);
    return run(input, ...rest) as unknown;
  };
}
