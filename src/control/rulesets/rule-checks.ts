import { API_CALL, begins } from "#kernel/process/heartbeat.ts";
import type { Slices, Work } from "#kernel/process/slices.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { RuleWrite } from "#model/rulesets/ruleset.ts";
import { escapePointer } from "#rules/parameters/shape.ts";
import { ruleProblems } from "#rules/check.ts";
import { createRegexTable, REGEX_PLACES_MAX } from "#rules/regex/regex-table.ts";
import type { StoredRule } from "./rules.ts";
import type { RulesetContext } from "./surroundings.ts";

/** Rules that are to be written, and where in the request body each of them stands: `/rules/0`, or empty where the body is the rule. */
export type Placed<R> = readonly (readonly [rule: R, pointer: string])[];

/**
 * Rules are parsed and compiled to see what is wrong with them. That takes a second where they are many, in which others have their
 * turns, and no unit of work is open: a unit only makes sure that they have been checked.
 */
export interface RuleChecks {
  /** Throws what is wrong with the first rule that cannot be saved. `beside`: the rules of the ruleset that stay. */
  check(writes: Placed<RuleWrite>, beside: readonly StoredRule[], phase: string, around: RulesetContext): Promise<void>;
  /** Throws where they have not been checked, or what they were checked against has changed. */
  assertChecked(write: RuleWrite, phase: string, around: RulesetContext): void;
  /** Looks, and then acts; both again where what was looked at has changed before it acted. */
  before<T>(look: () => Promise<void>, act: () => Promise<T>): Promise<T>;
}

const TRIES_MAX = 3;
/** What checking takes (`Work`): a rule, and a byte of what it says. */
const RULE_UNITS = 20;
const BYTE_UNITS = 2;

class SurroundingsChanged extends PlatformError {
  constructor() {
    super("ruleset_invalid", { message: "lists or rulesets that rules may name changed while these were checked; send them again" });
  }
}

export function createRuleChecks(slices: Slices): RuleChecks {
  /** What each rule was checked against; a request's rules go with it. */
  const checked = new WeakMap<RuleWrite, string>();
  const against = (phase: string, around: RulesetContext): string => `${phase} ${around.kind} ${around.fingerprint}`;

  function* checking(writes: Placed<RuleWrite>, beside: readonly StoredRule[], phase: string, around: RulesetContext): Work<void> {
    const regexes = createRegexTable(REGEX_PLACES_MAX);
    const within = { ...around, regexes };
    const begun = `rules of phase ${phase}`;
    for (const [write, pointer] of writes) {
      begins(API_CALL, begun);
      regexes.beginRule();
      checkRule(write, phase, within, pointer);
      checked.set(write, against(phase, around));
      yield unitsOf(write);
    }
    // Of those that stay only the regular expressions count, and only if there are more of them now.
    if (regexes.places === 0 || beside.length === 0) return;
    const together = createRegexTable(REGEX_PLACES_MAX);
    for (const rule of beside) {
      begins(API_CALL, begun);
      together.beginRule();
      ruleProblems(rule, phase, { ...around, regexes: together });
      yield unitsOf(rule);
    }
    for (const [write, pointer] of writes) {
      together.beginRule();
      checkRule(write, phase, { ...around, regexes: together }, pointer);
      yield unitsOf(write);
    }
  }

  return {
    check: (writes, beside, phase, around) => slices.run(checking(writes, beside, phase, around)),
    assertChecked: (write, phase, around) => {
      if (checked.get(write) !== against(phase, around)) throw new SurroundingsChanged();
    },
    before: async (look, act) => {
      for (let tries = 1; ; tries++) {
        await look();
        try {
          return await act();
        } catch (error) {
          if (!(error instanceof SurroundingsChanged) || tries === TRIES_MAX) throw error;
        }
      }
    },
  };
}

const unitsOf = (rule: RuleWrite | StoredRule): number => RULE_UNITS + JSON.stringify(rule).length * BYTE_UNITS;

/** Parts of a rule that this version takes from nobody, since it could not do what they say. */
const UNAVAILABLE = ["exposed_credential_check"] as const;

/** Members of a rule, those that clients send back to us as they read them among them. */
const KEYS = [
  "id",
  "ref",
  "version",
  "last_updated",
  "categories",
  "action",
  "action_parameters",
  "expression",
  "description",
  "enabled",
  "logging",
  "ratelimit",
  "exposed_credential_check",
];

function checkRule(write: RuleWrite, phase: string, around: Parameters<typeof ruleProblems>[2], at: string): void {
  const unknown = Object.keys(write).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw invalid(`unknown field "${unknown}" of a rule`, `${at}/${escapePointer(unknown)}`);
  for (const key of UNAVAILABLE) {
    if ((write[key] ?? null) !== null) throw invalid(`${key} is not supported in rules`, `${at}/${key}`);
  }
  const problem = ruleProblems(write, phase, around)[0];
  if (problem === undefined) return;
  const name = problem.pointer.endsWith("/expression") ? "rule_expression_invalid" : "ruleset_invalid";
  throw new PlatformError(name, { message: problem.message, source: at + problem.pointer });
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("ruleset_invalid", { message, source });
