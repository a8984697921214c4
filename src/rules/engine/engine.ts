import { bytesToRead } from "#rules/body/request-body.ts";
import { beginCharging, charge, endCharging, exhaustedAt, isStepsSpent } from "#rules/budget.ts";
import { MANAGED_RULESETS, withoutRules } from "#rules/managed/rulesets.ts";
import type { Asking, DispatchScan } from "#rules/expression/compile/dispatch.ts";
import { addSkips, note, type RuleRun, type SkippedBy, type TraceStep } from "./run.ts";
import type { CompiledRule, CompiledRuleset, Found, Match } from "./compiled-rule.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/**
 * Runs the entry points of one phase, account before zone, until a rule ends the phase. Returns the matches in order,
 * as plain data that a stage carries out afterwards, so that the fields of rules do not change within a phase (waf.md).
 * If the request's step limit is reached, the phase ends, and `run.exhausted` names the rule under evaluation.
 */
export function runPhase(
  rulesets: readonly CompiledRuleset[],
  run: RuleRun,
  request: RequestView,
  response: ResponseView | null,
): readonly Match[] {
  const skipped = run.skips?.phases.get(rulesets[0]?.phase ?? "");
  if (skipped !== undefined) {
    if (run.trace !== null) for (const ruleset of rulesets) noteSkipped(run, ruleset, "", skipped);
    return NONE;
  }
  const matches: Match[] = [];
  const pass: Pass = { run, request, response, matches, deployedBy: "", score: 0, found: null, publicKey: "", asked: 0, told: 0 };
  beginCharging(run, response === null ? "request" : "response", bytesToRead(request));
  try {
    runAll(rulesets, pass);
  } catch (error) {
    if (!isStepsSpent(error)) throw error;
  } finally {
    endCharging(run);
  }
  return matches.length === 0 ? NONE : matches;
}

const NONE: readonly Match[] = [];

/** Runs one ruleset after the other until a rule ends the phase. Rulesets exempt from skips still run after one. */
function runAll(rulesets: readonly CompiledRuleset[], pass: Pass): void {
  const { run, matches } = pass;
  let isSkipped = false;
  for (const ruleset of rulesets) {
    if (isSkipped && ruleset.outlivesSkips !== true) continue;
    const skippedBy = run.skips?.rulesets.get(ruleset.id);
    if (skippedBy !== undefined) {
      if (run.trace !== null) noteSkipped(run, ruleset, "", skippedBy);
      continue;
    }
    if (!runRules(ruleset, pass)) continue;
    if (matches.at(-1)?.action !== "skip") return;
    isSkipped = true;
  }
}

/** Whether a rule executes a ruleset that reads the body of this response. False if the step limit ends the evaluation. */
export function wantsResponseBody(
  rulesets: readonly CompiledRuleset[],
  run: RuleRun,
  request: RequestView,
  response: ResponseView,
): boolean {
  if (run.skips?.phases.has(rulesets[0]?.phase ?? "") === true) return false;
  const wants = ({ executes, applies }: CompiledRule): boolean =>
    executes?.ruleset()?.readsResponse === true && run.skips?.rulesets.has(executes.id) !== true && applies(request, response);
  beginCharging(run, "response", bytesToRead(request));
  try {
    return rulesets.some(({ rules }) => rules.some(wants));
  } catch (error) {
    if (!isStepsSpent(error)) throw error;
    return false;
  } finally {
    endCharging(run);
  }
}

/** One run of a ruleset: an entry point, or a ruleset that one of its rules executes. */
interface Pass extends Asking {
  readonly run: RuleRun;
  readonly request: RequestView;
  readonly response: ResponseView | null;
  readonly matches: Match[];
  readonly deployedBy: string;
  score: number;
  /** Managed rules that added to the score so far; null if rules do not report findings. */
  readonly found: Added[] | null;
  readonly publicKey: string;
  /** The first rule that the trace lacks. */
  told: number;
}

/** A rule that added to the score. */
interface Added {
  readonly rule: CompiledRule;
  readonly points: number;
}

/** Scoring rules that an event names at most. */
const FOUND_MAX = 32;

/** Returns true when the phase is over. */
function runRules(ruleset: CompiledRuleset, pass: Pass): boolean {
  const { dispatch } = ruleset;
  pass.asked = pass.told = 0;
  try {
    charge(ruleset.steps);
    if (dispatch === null) return runEach(ruleset, pass, null);
    const scan = dispatch.scan(pass.request, pass.response, pass);
    // A trace needs the result of every rule.
    return pass.run.trace === null ? runFound(ruleset, pass, scan) : runEach(ruleset, pass, appliesBy(scan));
  } catch (error) {
    if (isStepsSpent(error)) noteExhausted(ruleset, pass);
    throw error;
  }
}

/** Returns true when the phase is over. */
function runFound(ruleset: CompiledRuleset, pass: Pass, scan: DispatchScan): boolean {
  for (let rule = ruleset.rules[scan.next()]; rule !== undefined; rule = ruleset.rules[scan.next()]) {
    if (skippedByOf(ruleset, rule, pass.run) !== undefined || pass.score < rule.threshold) continue;
    const over = apply(rule, pass);
    if (over !== null) return over;
  }
  return false;
}

/** Whether the rule at a position matches, for ascending positions, so that a trace costs as many steps as the request itself. */
function appliesBy(scan: DispatchScan): (place: number) => boolean {
  let found = -1;
  return (place) => {
    while (found < place) {
      const next = scan.next();
      found = next === -1 ? Number.POSITIVE_INFINITY : next;
    }
    return found === place;
  };
}

/** Evaluates each rule, or calls `applies` for each. Returns true when the phase is over. */
function runEach(ruleset: CompiledRuleset, pass: Pass, applies: ((place: number) => boolean) | null): boolean {
  const { run, request, response } = pass;
  const { trace } = run;
  const { rules } = ruleset;
  for (let place = 0; place < rules.length; place++) {
    const rule = rules[place]!;
    pass.told = place;
    const skippedBy = skippedByOf(ruleset, rule, run);
    if (skippedBy !== undefined) {
      if (trace !== null) note(trace, { ...stepOf(ruleset, rule, pass), result: "skipped", skipped_by: skippedBy });
      continue;
    }
    if (applies === null) pass.asked = place;
    const matched = applies === null ? rule.applies(request, response) : applies(place);
    // A limit counts by its own expression, whether the rule matches or not.
    const isDue = rule.limit === null ? matched : rule.limit.trips(request, matched, run.later);
    if (!isDue || pass.score < rule.threshold) {
      if (trace !== null) note(trace, { ...stepOf(ruleset, rule, pass), result: whyNot(matched, isDue) });
      continue;
    }
    if (trace !== null) {
      const matched = rule.explain?.(request)[0];
      const step = stepOf(ruleset, rule, { ...pass, score: pass.score + addedBy(rule, request) });
      note(trace, { ...step, result: "applied", ...(matched === undefined ? {} : { matched }) });
    }
    const over = apply(rule, pass);
    if (over !== null) return over;
  }
  return false;
}

/** Records the innermost rule that was under evaluation when the steps were spent. */
function noteExhausted(ruleset: CompiledRuleset, pass: Pass): void {
  const { run, asked, deployedBy } = pass;
  const rule = ruleset.rules[asked];
  if (run.exhausted !== null || rule === undefined) return;
  run.exhausted = exhaustedAt(rule.definition, ruleset, deployedBy, pass.response === null);
  if (run.trace === null) return;
  for (const missed of ruleset.rules.slice(pass.told, asked)) note(run.trace, { ...stepOf(ruleset, missed, pass), result: "not_matched" });
  note(run.trace, { ...stepOf(ruleset, rule, pass), result: "exhausted" });
}

const skippedByOf = (ruleset: CompiledRuleset, rule: CompiledRule, run: RuleRun): SkippedBy | undefined =>
  run.skips === null ? undefined : run.skips.rules.get(ruleset.id)?.get(rule.definition.id);

/** Applies a matched rule: true if the phase is over, false if the ruleset is, null if it continues. */
function apply(rule: CompiledRule, pass: Pass): boolean | null {
  if (CHALLENGES.has(rule.definition.action) && pass.run.isCleared === true) return null;
  const points = addedBy(rule, pass.request);
  pass.score += points;
  if (rule.increment > 0 && pass.found !== null && pass.found.length < FOUND_MAX) pass.found.push({ rule, points });
  if (rule.skips !== null) addSkips(pass.run, rule.skips, rule.definition.id);
  if (rule.executes === null) pass.matches.push(matchOf(rule, pass));
  else if (runExecuted(rule, rule.executes, pass)) return true;
  return rule.ends === null ? null : rule.ends === "phase";
}

const addedBy = (rule: CompiledRule, request: RequestView): number => (rule.points === null ? rule.increment : rule.points(request));

/** A visitor who has passed one of them has passed all. */
export const CHALLENGES: ReadonlySet<string> = new Set(["challenge", "js_challenge", "managed_challenge"]);

const whyNot = (matched: boolean, isDue: boolean): TraceStep["result"] =>
  isDue ? "below_threshold" : matched ? "below_limit" : "not_matched";

/** Returns true when the phase is over. */
function runExecuted(rule: CompiledRule, executed: NonNullable<CompiledRule["executes"]>, pass: Pass): boolean {
  const { run } = pass;
  const skippedBy = run.skips?.rulesets.get(executed.id);
  const ruleset = executed.ruleset();
  if (skippedBy !== undefined) {
    if (run.trace !== null && ruleset !== undefined) noteSkipped(run, ruleset, rule.definition.id, skippedBy);
    return false;
  }
  if (executed.managed !== null) {
    const exceptions = run.skips?.rules.get(executed.id);
    const known = MANAGED_RULESETS.get(executed.id);
    const managed =
      exceptions === undefined || known === undefined
        ? executed.managed
        : withoutRules(known, executed.managed, new Set(exceptions.keys()));
    pass.matches.push(managed === rule.match.managed ? rule.match : { ...rule.match, managed });
    return false;
  }
  if (ruleset === undefined) return false;
  const exceptions = run.skips?.parts.get(executed.id);
  const excepting = exceptions === undefined ? ruleset : (ruleset.excepting?.(exceptions) ?? ruleset);
  // Scores belong to one execution: two rulesets do not share them.
  return runRules(excepting, {
    ...pass,
    deployedBy: rule.definition.id,
    score: 0,
    found: executed.tells ? [] : null,
    publicKey: executed.publicKey,
  });
}

const foundBy = ({ rule, points }: Added, { request }: Pass): Found => ({
  rule_id: rule.definition.id,
  places: rule.explain?.(request) ?? NOWHERE,
  score: points,
});

const NOWHERE: Found["places"] = [];

/** For a rule that reads the score, the rules that added to it. */
function foundFor(rule: CompiledRule, pass: Pass): readonly Found[] {
  if (pass.found === null) return rule.match.found;
  if (!rule.match.logs) return rule.match.found;
  return rule.threshold > 0 ? pass.found.map((added) => foundBy(added, pass)) : [foundBy({ rule, points: 0 }, pass)];
}

function matchOf(rule: CompiledRule, pass: Pass): Match {
  const { match, readChanges } = rule;
  // A trace shows the parameters of header changes; without one, the changes suffice.
  const read = readChanges !== null && pass.run.trace === null ? null : rule.read;
  if (read === null && readChanges === null && pass.deployedBy === "") return match;
  return {
    ruleset_id: match.ruleset_id,
    rule: match.rule,
    action: match.action,
    action_parameters: read === null ? match.action_parameters : read(pass.request, pass.response),
    changes: readChanges === null ? match.changes : readChanges(pass.request, pass.response),
    managed: match.managed,
    deployed_by: pass.deployedBy,
    found: foundFor(rule, pass),
    public_key: pass.publicKey,
    logs: match.logs,
  };
}

const stepOf = (ruleset: CompiledRuleset, rule: CompiledRule, pass: Pass): Omit<TraceStep, "result"> => ({
  phase: ruleset.phase,
  ruleset_id: ruleset.id,
  ruleset_version: ruleset.version,
  rule_id: rule.definition.id,
  action: rule.definition.action,
  deployed_by: pass.deployedBy,
  ...(pass.score === 0 ? {} : { score: pass.score }),
});

function noteSkipped(run: RuleRun, ruleset: CompiledRuleset, deployedBy: string, skippedBy: SkippedBy): void {
  if (run.trace === null) return;
  for (const { definition } of ruleset.rules)
    note(run.trace, {
      phase: ruleset.phase,
      ruleset_id: ruleset.id,
      ruleset_version: ruleset.version,
      rule_id: definition.id,
      action: definition.action,
      deployed_by: deployedBy,
      result: "skipped",
      skipped_by: skippedBy,
    });
}
