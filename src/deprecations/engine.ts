import type { CallRule, CallRules } from "#kernel/call-rules.ts";
import { listAt } from "#kernel/lists.ts";
import type { IsoDate } from "#kernel/clock.ts";
import type { ErrorItem } from "#kernel/errors/errors.ts";
import type { Deprecation } from "./deprecation.ts";
import { interpret } from "./effects/interpreters.ts";
import type { Facts, Interpretation, JsonObject, Query, Sides } from "./effect-handler.ts";

/** One route of the API as it was on one day. */
export interface DatedRoute {
  /** The row that ended the endpoint, or null. */
  readonly gone: Deprecation | null;
  /** Begins a request; null if no row of this day concerns the route. */
  begin(): DatedRequest | null;
}

/** The effects of the rows on one request: legacy forms become the newest ones on the way in, and the reverse on the way out. */
export interface DatedRequest {
  /** Throws PlatformError if a row refuses the request. */
  query(query: Query): Query;
  body(body: unknown): unknown;
  result(object: JsonObject, facts: Facts): JsonObject;
  list(objects: readonly JsonObject[]): readonly JsonObject[];
  errors(items: readonly ErrorItem[]): readonly ErrorItem[];
  readonly rules: CallRules;
  /** Rules that the use-case has asked about, because they concern what the call does. */
  readonly askedRules: ReadonlySet<CallRule>;
  /** Rows that concern the request and whose date has not come yet. */
  readonly pending: ReadonlySet<Deprecation>;
}

export interface DeprecationEngine {
  /** `route` is `METHOD /path/with/:parameters`. Rows that protect something are judged by the day `safe`. */
  at(route: string, date: IsoDate, safe?: IsoDate): DatedRoute;
}

/** Bounds the cache, since API versions let callers choose the day. */
const DATED_ROUTES_MAX = 5000;

export function createDeprecationEngine(table: readonly Deprecation[]): DeprecationEngine {
  const byRoute = new Map<string, CompiledRow[]>();
  for (const row of table) {
    const compiled = { row, sides: interpret(row) };
    for (const route of row.routes) listAt(byRoute, route).push(compiled);
  }
  // Oldest first: a later change applies to the result of the earlier one.
  for (const rows of byRoute.values()) rows.sort((a, b) => (a.row.date < b.row.date ? -1 : 1));
  const dated = new Map<string, DatedRoute>();
  return {
    at: (route, date, safe = date) => {
      const rows = byRoute.get(route);
      if (!rows) return UNTOUCHED;
      const key = `${date} ${safe} ${route}`;
      const known = dated.get(key);
      if (known) return known;
      if (dated.size >= DATED_ROUTES_MAX) dated.clear();
      const made = dateRoute(rows, (row) => (row.protects === undefined ? date : safe));
      dated.set(key, made);
      return made;
    },
  };
}

interface CompiledRow {
  readonly row: Deprecation;
  readonly sides: Sides;
}

interface ActiveRow {
  readonly row: Deprecation;
  readonly pending: boolean;
  readonly does: Interpretation;
}

const UNTOUCHED: DatedRoute = { gone: null, begin: () => null };

function dateRoute(rows: readonly CompiledRow[], dateFor: (row: Deprecation) => IsoDate): DatedRoute {
  const active = rows.map(({ row, sides }): ActiveRow => {
    const pending = row.date > dateFor(row);
    return { row, pending, does: pending ? sides.before : sides.after };
  });
  const gone = active.find(({ does }) => does.gone)?.row ?? null;
  const busy = active.filter(({ does }) => Object.keys(does).length > 0);
  return { gone, begin: () => (busy.length === 0 ? null : beginRequest(busy)) };
}

function beginRequest(rows: readonly ActiveRow[]): DatedRequest {
  const pending = new Set<Deprecation>();
  const askedRules = new Set<CallRule>();
  for (const { row, pending: toCome, does } of rows) if (toCome && does.always === true) pending.add(row);
  /** Applies one hook of every row in order, and notes the rows that changed something. */
  function through<T>(value: T, hook: (does: Interpretation) => ((value: T) => T) | undefined, order: readonly ActiveRow[]): T {
    return order.reduce((current, { row, pending: toCome, does }) => {
      const next = hook(does)?.(current) ?? current;
      if (next !== current && toCome) pending.add(row);
      return next;
    }, value);
  }
  const newestFirst = rows.toReversed();
  return {
    query: (query) => through(query, (does) => does.query, rows),
    body: (body) =>
      typeof body === "object" && body !== null && !Array.isArray(body) ? through(body as JsonObject, (does) => does.body, rows) : body,
    result: (object, facts) => through(object, ({ result }) => result && ((current) => result(current, facts)), newestFirst),
    list: (objects) => through(objects, (does) => does.list, newestFirst),
    errors: (items) => through(items, (does) => does.errors, newestFirst),
    rules: {
      refuses: (rule) => {
        askedRules.add(rule);
        const found = rows.find(({ does }) => does.rule?.name === rule);
        if (found?.pending === true) pending.add(found.row);
        return found?.does.rule?.isInForce === true;
      },
    },
    askedRules,
    pending,
  };
}
