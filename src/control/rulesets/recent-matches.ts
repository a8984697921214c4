import { phaseFor } from "#control/rulesets/scope.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { urlNormalizationOf } from "#control/open-zone/url-paths.ts";
import { namedLists } from "#control/rulesets/named-lists.ts";
import { type LoggedZone, RECORDED_FIELDS, requestViewOf, responseViewOf } from "#control/rulesets/logged-views.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { RequestRow } from "#events/rows/rows.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Slices, Work } from "#kernel/process/slices.ts";
import type { ExpressionMatches, ExpressionMatchesQuery } from "#model/rulesets/expression-matches.ts";
import { planOf } from "#model/zones/plan.ts";
import { beginCharging, endCharging, isStepsSpent, type Spending, STEPS_MAX } from "#rules/budget.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import type { Predicate, RequestView, ResponseView } from "#rules/views.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";

/** The recent requests that an unsaved expression would have matched. */
export interface RecentMatches {
  /**
   * Evaluates the expression for the newest logged requests of the zone. Throws `ruleset_invalid` for an expression that does not compile
   * or takes too many steps, and for a phase that zones do not have, `authentication_error`.
   */
  find(scope: RulesetScope, zoneName: string, query: ExpressionMatchesQuery): Promise<ExpressionMatches>;
}

export interface RecentMatchesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly reads: Pick<EventReads, "page">;
  readonly slices: Slices;
}

const REQUESTS = 1000;
const EXAMPLES_MAX = 20;
/** An expression that reads much of each request is evaluated for fewer of them. */
const BUDGET_MS = 2_000;
/** Steps for one request, at most 30 milliseconds: other calls of the API wait as long. */
const STEPS_OF_ONE = 30_000_000;
/** A step is about a nanosecond, a unit of `Slices` a microsecond. */
const STEPS_PER_UNIT = 1_000;
/** Of a row, beside the steps of the expression. */
const ROW_UNITS = 5;

export const createRecentMatches = ({ store, clock, reads, slices }: RecentMatchesDeps): RecentMatches => ({
  find: async (scope, zoneName, { expression, phase: name, requests = REQUESTS }) => {
    const phase = phaseFor(scope, name, "read", "/phase");
    const unrecorded = new Set<string>();
    const lists = await namedLists(store.read, scope.account_id, [expression]);
    const matches = compiled(expression, phase.name, {
      lists,
      onField: (field) => !RECORDED_FIELDS.has(field.name) && unrecorded.add(field.name),
    });
    const { rows } = await reads.page("requests", {
      where: [{ column: "zone_id", operator: "eq", value: scope.zone_id ?? "" }],
      limit: requests,
    });
    const normalization = urlNormalizationOf(await zoneRowById(store.read, scope.zone_id ?? ""));
    const zone = { zone_name: zoneName, zone_plan: planOf(scope.plan ?? "").name, normalization };
    const found = await slices.run(evaluate(rows, matches, zone, clock));
    const oldest = rows[found.evaluated - 1];
    return {
      evaluated: found.evaluated,
      matched: found.matched,
      since: oldest === undefined ? null : new Date(oldest.at_ms).toISOString(),
      unrecorded_fields: [...unrecorded].toSorted(),
      examples: found.examples.map(exampleOf),
    };
  },
});

function compiled(expression: string, phase: string, options: Parameters<typeof compileExpression>[2]): Predicate {
  try {
    return compileExpression(expression, phase, options);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new PlatformError("ruleset_invalid", { message: error.message, source: "/expression" });
  }
}

interface Found {
  readonly evaluated: number;
  readonly matched: number;
  readonly examples: readonly RequestRow[];
}

function* evaluate(rows: readonly RequestRow[], matches: Predicate, zone: LoggedZone, clock: Clock): Work<Found> {
  const untilMs = clock.nowMs() + BUDGET_MS;
  const examples: RequestRow[] = [];
  let [evaluated, matched] = [0, 0];
  for (const row of rows) {
    if (clock.nowMs() > untilMs) break;
    evaluated++;
    const { isMatch, steps } = evaluateOne(matches, requestViewOf(row, zone), responseViewOf(row));
    if (isMatch) {
      matched++;
      if (examples.length < EXAMPLES_MAX) examples.push(row);
    }
    yield ROW_UNITS + Math.ceil(steps / STEPS_PER_UNIT);
  }
  return { evaluated, matched, examples };
}

function evaluateOne(
  matches: Predicate,
  request: RequestView,
  response: ResponseView,
): { readonly isMatch: boolean; readonly steps: number } {
  const before = STEPS_MAX - STEPS_OF_ONE;
  const spending: Spending = { steps: before, exhausted: null };
  beginCharging(spending, "request");
  let isMatch: boolean;
  try {
    isMatch = matches(request, response);
  } catch (error) {
    if (!isStepsSpent(error)) throw error;
    const message = `the expression takes too many steps for the request ${request.ray_id}; shorten its regular expressions or test it with fewer of them`;
    throw new PlatformError("ruleset_invalid", { message, source: "/expression" });
  } finally {
    endCharging(spending);
  }
  return { isMatch, steps: spending.steps - before };
}

const exampleOf = (row: RequestRow): ExpressionMatches["examples"][number] => ({
  ray_id: row.ray_id,
  occurred_at: new Date(row.at_ms).toISOString(),
  client_ip: row.client_ip,
  country: row.country ?? "",
  method: row.method,
  host: row.host,
  path: row.path,
  query: row.query,
  user_agent: row.user_agent,
  status: row.status,
});
