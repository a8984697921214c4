import { listAt } from "#kernel/lists.ts";
import { describeRequest, describeResponse, type DescribedRequest } from "#control/rulesets/described-request.ts";
import { slotRows } from "#control/previous-waf/slot-rows.ts";
import { urlNormalizationOf } from "#control/open-zone/url-paths.ts";
import { mayUse } from "#control/rulesets/phase-permissions.ts";
import { type CompiledRows, createCompiledRows } from "#control/rulesets/compiled-rows.ts";
import { namedLists } from "#control/rulesets/named-lists.ts";
import { inertNotes, normalizationIn } from "#control/rulesets/inert-notes.ts";
import type { StoredRule } from "#control/rulesets/rules.ts";
import { ownPatterns } from "#control/detection/own-patterns.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import type { Slices } from "#kernel/process/slices.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin } from "#kernel/net/hostname.ts";
import { planOf } from "#model/zones/plan.ts";
import type { RuleTrace, RuleTraceRequest } from "#model/rulesets/rule-trace.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { MANAGED_RULESETS } from "#rules/managed/rulesets.ts";
import { PACKAGE_RULESETS } from "#rules/previous-waf/packages.ts";
import { type PhaseName, PHASES } from "#rules/phases.ts";
import { createTracedRun, type TraceStep } from "#rules/engine/run.ts";
import type { CompiledRuleset, Match } from "#rules/engine/compiled-rule.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import type { ResponseView } from "#rules/views.ts";
import { activeHostnamesUp } from "#store/hostnames/custom-hostnames.ts";
import { type RulesetRow, rulesetsWithRules } from "#store/rulesets/rulesets.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zonesOfAccount } from "#store/zones/zones.ts";

/** Traces a hypothetical request through the saved rules with the edge's engine. */
export interface RuleTraces {
  /** Throws `invalid_input` for an invalid description, or a host of another zone. */
  trace(scope: RulesetScope, input: RuleTraceRequest): Promise<RuleTrace>;
  /**
   * Sentences about a ruleset's rules that do not compile and are therefore skipped, possibly because an older version
   * saved them; and about parts of other rules that have no effect.
   */
  notes(scope: RulesetScope, rulesetId: string): Promise<readonly string[]>;
}

export interface RuleTracesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly slices: Slices;
  /** Whether the edge can know where visitors are; default: it can. */
  readonly hasPlaces?: boolean;
}

/** Statuses of the edge's own responses for actions that end a request phase. */
const ANSWERS: Readonly<Record<string, number>> = { block: 403, redirect: 302, serve_error: 500, exhausted: 503 };

export function createRuleTraces({ store, clock, slices, hasPlaces = true }: RuleTracesDeps): RuleTraces {
  const compiledRows = createCompiledRows(slices);
  return {
    notes: async (scope, rulesetId) => {
      const owners = scope.zone_id === null ? [scope.account_id] : [scope.zone_id];
      const row = (await rulesetsWithRules(store.read, owners)).find(({ id }) => id === rulesetId);
      if (row === undefined) return [];
      const lists = await namedLists(store.read, scope.account_id, [row.rules]);
      const { problems } = await compiledRows.compile(row, { lists, custom: () => undefined });
      const leftOut = problems.map(({ rule_id, message }) => `Rule ${rule_id} does not run: ${message}`);
      const around = { patterns: await ownPatterns(store.read, scope), normalization: await normalizationIn(store.read, scope), hasPlaces };
      return [...leftOut, ...(await inertNotes(JSON.parse(row.rules) as StoredRule[], around))];
    },
    trace: async (scope, input) => {
      const { host } = describeRequest(input, {}, clock.nowMs());
      const { zone, hostname } = await serving(store.read, scope.account_id, host);
      if (scope.zone_id !== null && zone?.id !== scope.zone_id)
        throw new PlatformError("invalid_input", { message: `"url" must name a host of this zone.`, source: "/url" });
      const served = {
        zone_name: zone?.name ?? "",
        ...(zone === undefined ? {} : { zone_plan: planOf(zone.plan).name }),
        hostname_metadata: Buffer.from(hostname?.custom_metadata ?? "").toString("latin1"),
      };
      const request = describeRequest(input, served, clock.nowMs(), urlNormalizationOf(zone));
      const rulesets = await loadRulesets(store.read, compiledRows, scope, zone?.id ?? null);
      return { zone_name: zone?.name ?? null, ...follow(rulesets, request, input) };
    },
  };
}

/**
 * The account's zone that serves the host, in the edge's order: a custom hostname with exactly this name, the active zone
 * with the longest name, a custom hostname above that covers it.
 */
async function serving(db: Unit["db"], accountId: string, host: string) {
  const zones = (await zonesOfAccount(db, accountId)).filter(({ status }) => status === "active");
  const hostnames =
    zones.length === 0
      ? []
      : await activeHostnamesUp(
          db,
          zones.map(({ id }) => id),
          host,
        );
  const exact = hostnames.find(({ hostname }) => hostname === host);
  const [named] = zones.filter(({ name }) => isWithin(host, name)).toSorted((a, b) => b.name.length - a.name.length);
  const hostname = exact ?? (named === undefined ? hostnames.find(({ wildcard }) => wildcard === 1) : undefined);
  return hostname === undefined ? { zone: named } : { zone: zones.find(({ id }) => id === hostname.zone_id), hostname };
}

interface Loaded {
  /** Call before running the rules, in the same tick. */
  begin(): void;
  readonly leftOut: RuleTrace["left_out"];
  of(phase: PhaseName): readonly CompiledRuleset[];
  /** Rules that the caller may see, by ruleset and id. */
  readonly rules: ReadonlyMap<string, RuleDefinition>;
}

/** Runs the request phases until one ends the request, then the response phases. */
function follow(loaded: Loaded, request: DescribedRequest, input: RuleTraceRequest): Omit<RuleTrace, "zone_name"> {
  loaded.begin();
  const run = createTracedRun();
  const phases: RuleTrace["phases"] = [];
  let terminated: RuleTrace["terminated_by"] = null;
  let response: ResponseView | null = null;
  for (const phase of PHASES) {
    const rulesets = loaded.of(phase.name);
    if (rulesets.length === 0 || (phase.side === "request" && terminated !== null)) continue;
    if (phase.side === "response")
      response ??= describeResponse(input.response, terminated === null ? null : (ANSWERS[terminated.action] ?? 200));
    // As at the edge, rules for errors run for error responses only.
    if (phase.name === "http_custom_errors" && (response?.status ?? 0) < 400) continue;
    const from = run.trace.steps.length;
    const matches = runPhase(rulesets, run, request, response);
    phases.push({ phase: phase.name, steps: run.trace.steps.slice(from).map((step) => stepView(step, loaded.rules, matches)) });
    if (phase.side === "request" && run.exhausted !== null) {
      const { ruleset_id, rule_id } = run.exhausted;
      terminated = { phase: phase.name, ruleset_id, rule_id, action: "exhausted" };
    }
    for (const match of matches) {
      if (phase.side === "request" && match.action === "rewrite") request.change(match);
      if (ANSWERS[match.action] !== undefined)
        terminated ??= { phase: phase.name, ruleset_id: match.ruleset_id, rule_id: match.rule.id, action: match.action };
    }
  }
  const { method, scheme, host, path, origin_path = path, query, fields } = request;
  const url = `${scheme}://${host}${origin_path}${query === "" ? "" : `?${query}`}`;
  return {
    terminated_by: terminated,
    request: { method, url, headers: Object.fromEntries([...fields].map(([name, values]) => [name, [...values]])) },
    phases,
    left_out: [...loaded.leftOut],
    truncated: run.trace.truncated,
  };
}

function stepView(
  step: TraceStep,
  rules: ReadonlyMap<string, RuleDefinition>,
  matches: readonly Match[],
): RuleTrace["phases"][number]["steps"][number] {
  const rule = rules.get(`${step.ruleset_id}/${step.rule_id}`);
  const shipped = MANAGED_RULESETS.get(step.ruleset_id) ?? PACKAGE_RULESETS.get(step.ruleset_id);
  const managed = shipped?.rules.find(({ id }) => id === step.rule_id);
  // Managed rules ship with the program, so every caller may see them.
  if (managed !== undefined) return { ...plainStep(step), description: managed.description, expression: managed.expression ?? "" };
  if (rule === undefined) return { ...plainStep(step), description: "", expression: "" };
  const match = matches.find((one) => one.ruleset_id === step.ruleset_id && one.rule.id === step.rule_id);
  const does =
    step.result === "applied" && match !== undefined && Object.keys(match.action_parameters).length > 0 ? match.action_parameters : null;
  return {
    ...plainStep(step),
    description: rule.description,
    expression: rule.expression,
    ...(does === null ? {} : { does: { ...does } }),
  };
}

const plainStep = (step: TraceStep) => ({
  ruleset_id: step.ruleset_id,
  ruleset_version: step.ruleset_version,
  rule_id: step.rule_id,
  action: step.action,
  result: step.result,
  ...(step.deployed_by === "" ? {} : { deployed_by: step.deployed_by }),
  ...(step.skipped_by === undefined ? {} : { skipped_by: step.skipped_by }),
  ...(step.matched === undefined ? {} : { matched: { ...step.matched, value: Buffer.from(step.matched.value, "latin1").toString() } }),
  ...(step.score === undefined ? {} : { score: step.score }),
});

/**
 * The rulesets of the account and the zone, compiled as at the edge. Requests are not counted, so no rate limit is ever
 * reached.
 */
async function loadRulesets(db: Unit["db"], compiledRows: CompiledRows, scope: RulesetScope, zoneId: string | null): Promise<Loaded> {
  const { account_id: accountId } = scope;
  const rows = await rulesetsWithRules(db, zoneId === null ? [accountId] : [accountId, zoneId]);
  const lists = await namedLists(
    db,
    accountId,
    rows.map(({ rules }) => rules),
  );
  const customs = new Map<string, CompiledRuleset>();
  const entryPoints = new Map<string, CompiledRuleset[]>();
  const rules = new Map<string, RuleDefinition>();
  const leftOut: { ruleset_id: string; rule_id: string; message: string }[] = [];
  const around = { lists, custom: (id: string) => customs.get(id) };
  const { first, before, after, last } = await slotRows(db, accountId, zoneId);
  const [ofAccount, ofZone] = [rows.filter(({ level }) => level === "account"), rows.filter(({ level }) => level !== "account")];
  for (const row of [...first, ...ofAccount, ...before, ...ofZone, ...after, ...last]) {
    const definitions = JSON.parse(row.rules) as RuleDefinition[];
    // A caller who may not read a phase sees only the effects of its rules.
    if (isShown(row, scope)) for (const rule of definitions) rules.set(`${row.id}/${rule.id}`, rule);
    const compiled = await compiledRows.compile(row, around);
    // Messages quote the rule, so they are shown only with it.
    for (const { rule_id, message } of compiled.problems)
      if (rules.has(`${row.id}/${rule_id}`)) leftOut.push({ ruleset_id: row.id, rule_id, message });
    if (row.kind === "custom") customs.set(row.id, compiled);
    else listAt(entryPoints, row.phase).push(compiled);
  }
  return { leftOut, begin: () => compiledRows.lookAround(around), of: (phase) => entryPoints.get(phase) ?? [], rules };
}

function isShown(row: RulesetRow, scope: RulesetScope): boolean {
  if (row.level === scope.level) return mayUse(scope.actor, scope, row.phase, "read");
  return scope.level === "account" && mayUse(scope.actor, { ...scope, level: "zone", zone_id: row.owner_id }, row.phase, "read");
}
