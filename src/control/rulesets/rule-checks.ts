import { API_CALL, begins } from "#kernel/process/heartbeat.ts";
import type { Slices, Work } from "#kernel/process/slices.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { RuleWrite } from "#model/rulesets/ruleset.ts";
import { escapePointer } from "#rules/parameters/shape.ts";
import { ruleProblems } from "#rules/check.ts";
import { createRegexTable, REGEX_POSITIONS_MAX } from "#rules/regex/regex-table.ts";
import type { StoredRule } from "./rules.ts";
import type { RulesetContext } from "./rule-context.ts";

/** Rules to be written, with their locations in the request body: `/rules/0`, or empty if the body is the rule. */
export type Placed<R> = readonly (readonly [rule: R, pointer: string])[];

/**
 * Checks rules by parsing and compiling them. Many rules take a second, in which other requests run and no unit of work
 * is open; the unit only asserts that they were checked.
 */
export interface RuleChecks {
  /** Throws the problem of the first invalid rule. `beside`: the other rules of the ruleset. */
  check(writes: Placed<RuleWrite>, beside: readonly StoredRule[], phase: string, around: RulesetContext): Promise<void>;
  /** Throws if the rule was not checked, or its context has changed since. */
  assertChecked(write: RuleWrite, phase: string, around: RulesetContext): void;
  /** Runs `look`, then `act`; repeats both if the context changed in between. */
  before<T>(look: () => Promise<void>, act: () => Promise<T>): Promise<T>;
}

const TRIES_MAX = 3;
/** Cost of a check (`Work`): per rule, and per byte of it. */
const RULE_UNITS = 20;
const BYTE_UNITS = 2;

class SurroundingsChanged extends PlatformError {
  constructor() {
    super("ruleset_invalid", { message: "a list or ruleset that rules can use changed during the check; send the request again" });
  }
}

export function createRuleChecks(slices: Slices): RuleChecks {
  /** The context against which each rule was checked; released with the request's rules. */
  const checked = new WeakMap<RuleWrite, string>();
  const against = (phase: string, around: RulesetContext): string => `${phase} ${around.kind} ${around.fingerprint}`;

  function* checking(writes: Placed<RuleWrite>, beside: readonly StoredRule[], phase: string, around: RulesetContext): Work<void> {
    const regexes = createRegexTable(REGEX_POSITIONS_MAX);
    const within = { ...around, regexes };
    const begun = `rules of phase ${phase}`;
    for (const [write, pointer] of writes) {
      begins(API_CALL, begun);
      regexes.beginRule();
      checkRule(write, phase, within, pointer);
      checked.set(write, against(phase, around));
      yield unitsOf(write);
    }
    // Of the unchanged rules only the regular expressions matter, and only if the written rules have some too.
    if (regexes.places === 0 || beside.length === 0) return;
    const together = createRegexTable(REGEX_POSITIONS_MAX);
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

/** Members that are refused because this version cannot apply them. */
const UNAVAILABLE = ["exposed_credential_check"] as const;

/** Members of a rule, including read-only ones that clients send back. */
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
