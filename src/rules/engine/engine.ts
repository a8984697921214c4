import { beginCharging, charge, endCharging, exhaustedAt, isStepsSpent } from "#rules/budget.ts";
import { MANAGED_RULESETS, withoutRules } from "#rules/managed/rulesets.ts";
import type { Asking, DispatchScan } from "#rules/expression/compile/dispatch.ts";
import { addSkips, note, type RuleRun, type SkippedBy, type TraceStep } from "./run.ts";
import type { CompiledRule, CompiledRuleset, Found, Match } from "./compiled-rule.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/**
 * Runs the entry points of one phase, account before zone, until a rule ends the phase. What applied comes in order, as
 * plain data for a stage to carry out afterwards: so what rules look at does not change within a phase (waf.md).
 * Where the request's steps are spent it ends there, and `run.exhausted` says which rule was being evaluated.
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
  beginCharging(run, response === null ? "request" : "response");
  try {
    for (const ruleset of rulesets) if (runRules(ruleset, pass)) break;
  } catch (error) {
    if (!isStepsSpent(error)) throw error;
  } finally {
    endCharging(run);
  }
  return matches.length === 0 ? NONE : matches;
}

const NONE: readonly Match[] = [];

/** One ruleset being run: an entry point, or what one of its rules executes. */
interface Pass extends Asking {
  readonly run: RuleRun;
  readonly request: RequestView;
  readonly response: ResponseView | null;
  readonly matches: Match[];
  readonly deployedBy: string;
  score: number;
  /** What managed rules have added to the score so far; null where rules do not tell. */
  readonly found: Added[] | null;
  readonly publicKey: string;
  /** The first rule of which a trace does not yet know what it did. */
  told: number;
}

/** A rule that has added to the score. */
interface Added {
  readonly rule: CompiledRule;
  readonly points: number;
}

/** So many of those that add to a score are named in an event. */
const FOUND_MAX = 32;

/** Returns true when the phase is over. */
function runRules(ruleset: CompiledRuleset, pass: Pass): boolean {
  const { dispatch } = ruleset;
  pass.asked = pass.told = 0;
  try {
    charge(ruleset.steps);
    if (dispatch === null) return runEach(ruleset, pass, null);
    const scan = dispatch.scan(pass.request, pass.response, pass);
    // Who wants to know what each rule did is told of each.
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

/** Whether the rule at a place applies, for places in their order: a trace costs what the request itself does. */
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

/** Asks each rule, or `applies` about each. Returns true when the phase is over. */
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
    // A limit counts what its own expression says, whether or not the rule applies.
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

/** Takes down the innermost rule of those that spent a request's steps. */
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

/** What a rule that applies does: true where the phase is over, false where the ruleset is, null where it goes on. */
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

/** Who has passed one of them has passed them all. */
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
  // Scores are of one execution: two rulesets do not share them.
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

/** Of a rule that looks at the score, what has added to it. */
function foundFor(rule: CompiledRule, pass: Pass): readonly Found[] {
  if (pass.found === null) return rule.match.found;
  if (!rule.match.logs) return rule.match.found;
  return rule.threshold > 0 ? pass.found.map((added) => foundBy(added, pass)) : [foundBy({ rule, points: 0 }, pass)];
}

function matchOf(rule: CompiledRule, pass: Pass): Match {
  const { match, readChanges } = rule;
  // The parameters of what changes a head are for who traces: what is done is in the changes.
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
