import type { Access } from "#control/access/access.ts";
import type { Call } from "#control/call.ts";
import type { LongReads, Place } from "#control/long-reads.ts";
import { aroundRay } from "#control/events/event-filter.ts";
import { type AskedValues, valuesOfEvents } from "#control/events/event-values.ts";
import { likeTest } from "#events/blocks/like.ts";
import type { GroupQuery } from "#events/sql/group-query.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { EventTable } from "#events/rows/rows.ts";
import type { Condition, Where, WherePart } from "#events/sql/where-sql.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { mapInTicks } from "#kernel/in-ticks.ts";
import {
  ANALYTICS_DATASETS,
  type AnalyticsDataset,
  type AnalyticsCell,
  type AnalyticsDatasetName,
  type AnalyticsField,
  type AnalyticsFilter,
  type AnalyticsGroup,
  type AnalyticsOperator,
  type AnalyticsQuery,
  type AnalyticsScope,
  type AnalyticsValue,
  type EntriesField,
  type ListField,
  type ListMember,
  type StoredField,
} from "#model/events/analytics.ts";
import type { SensitiveDataValues } from "#model/events/security-event.ts";
import type { Store } from "#store/database/store.ts";
import { readableAccounts, readableZones } from "./readable.ts";

/**
 * Queries over the planes' logs, for a zone or an account that the caller may read. Each throws `zone_not_found`,
 * `unauthorized_resource` and `authentication_error` like any route.
 */
export interface Analytics {
  /** Zones or accounts of which the caller may read a dataset: zones by name, accounts by age, at most `max`. */
  readable(call: Call, kind: "zone" | "account", max: number): Promise<readonly string[]>;
  /** A place for long reads of the scope's account. Throws as LongReads does. */
  begin(call: Call, scope: AnalyticsScope): Promise<Place>;
  /** Frees the place once the reader has the parts; see LongReads. */
  sent(place: Place, parts: AsyncGenerator<string, undefined>): AsyncIterableIterator<string>;
  /** Throws `invalid_input` if the order is not one of the dimensions. */
  groups(call: Call, scope: AnalyticsScope, dataset: AnalyticsDatasetName, query: AnalyticsQuery): Promise<readonly AnalyticsGroup[]>;
  /** Fields of rows, by time. */
  rows(
    call: Call,
    scope: AnalyticsScope,
    dataset: AnalyticsDatasetName,
    query: Pick<AnalyticsQuery, "filters" | "limit"> & { readonly fields: readonly string[]; readonly direction: "asc" | "desc" },
  ): Promise<readonly Readonly<Record<string, AnalyticsCell>>[]>;
  /** The sensitive values in security events, as the API lists them for a zone. */
  values(call: Call, scope: AnalyticsScope, filters: readonly AnalyticsFilter[]): Promise<SensitiveDataValues>;
}

export interface AnalyticsDeps {
  readonly access: Pick<Access, "authorize">;
  readonly store: Store;
  readonly reads: EventReads;
  readonly longReads: LongReads;
}

/** Values of rows or groups that are made in one tick. */
const VALUES_AT_ONCE = 4_000;

export function createAnalytics({ access, store, reads, longReads }: AnalyticsDeps): Analytics {
  const admit = async (call: Call, scope: AnalyticsScope, { zonePermissions, accountPermissions }: AnalyticsDataset): Promise<void> => {
    if ("zone_id" in scope) await access.authorize(call.actor, { type: "zone", zone_id: scope.zone_id }, zonePermissions);
    else await access.authorize(call.actor, { type: "account", account_id: scope.account_id }, accountPermissions);
  };

  return {
    readable: async ({ actor }, kind, max) => (kind === "zone" ? readableZones : readableAccounts)(store, actor, max),
    begin: async (call, scope) => {
      const asked = "zone_id" in scope ? ({ type: "zone", ...scope } as const) : ({ type: "account", ...scope } as const);
      const { zone } = await access.authorize(call.actor, asked, []);
      return longReads.begin("account_id" in scope ? scope.account_id : (zone?.account_id ?? ""), call);
    },
    sent: longReads.parts,
    groups: async (call, scope, name, query) => {
      const dataset: AnalyticsDataset = ANALYTICS_DATASETS[name];
      await admit(call, scope, dataset);
      const stored = query.dimensions.filter((field) => isStored(dataset.fields[field]!));
      const asked = groupQuery(dataset, scope, query, stored);
      if (dataset.table === null) return [];
      const groups = await reads.groups<EventTable>(dataset.table, asked);
      const constants = Object.fromEntries(query.dimensions.map((field) => [field, constantOf(dataset.fields[field]!)]));
      return mapInTicks(
        groups,
        atOnce(query.dimensions.length + query.measures.length),
        ({ count, dimensions, measures, sampleInterval }) => ({
          count,
          sampleInterval,
          dimensions: {
            ...constants,
            ...Object.fromEntries(stored.map((field, i) => [field, shown(dataset.fields[field]!, dimensions[i] ?? null)])),
          },
          measures: measures.map((value, i) => (query.measures[i]?.kind === "average" ? value / count : value)),
        }),
      );
    },
    rows: async (call, scope, name, { filters, fields, direction, limit }) => {
      const dataset: AnalyticsDataset = ANALYTICS_DATASETS[name];
      await admit(call, scope, dataset);
      if (dataset.table === null) return [];
      const { rows } = await reads.page<EventTable>(dataset.table, { where: whereOf(dataset, scope, filters), direction, limit });
      return mapInTicks(rows, atOnce(fields.length), (row) =>
        Object.fromEntries(
          fields.map((field) => {
            const known = dataset.fields[field]!;
            const cells = row as unknown as Readonly<Record<string, string | number | null>>;
            if (known.kind === "list") return [field, listed(known, cells[known.of])];
            if (!isStored(known)) return [field, constantOf(known)];
            const cell = cells[known.column] ?? null;
            return [
              field,
              shown(known, known.intervalMs === undefined ? cell : Math.floor(Number(cell) / known.intervalMs) * known.intervalMs),
            ];
          }),
        ),
      );
    },
    values: async (call, scope, filters) => {
      await admit(call, scope, ANALYTICS_DATASETS.firewallEvents);
      const where = whereOf(ANALYTICS_DATASETS.firewallEvents, scope, filters) as Where<"security_events">;
      return valuesOfEvents(reads, where, valuesAsked(filters));
    },
  };
}

const atOnce = (valuesInOne: number): number => Math.ceil(VALUES_AT_ONCE / (valuesInOne + 1));

/** A query that the counts of values can answer: of one value or all, of one period. */
function valuesAsked(filters: readonly AnalyticsFilter[]): AskedValues {
  const named = filters.flatMap((filter) => ("any" in filter ? [] : [filter]));
  const hashes = named.filter(({ field }) => field === "valueHash");
  const bounds = (...operators: readonly AnalyticsOperator[]): number =>
    named.filter(({ field, operator }) => field.startsWith("date") && operators.includes(operator)).length;
  const [since, until] = [bounds("ge", "gt"), bounds("lt", "le")];
  return {
    hashes: hashes.length === 1 ? hashes.flatMap(({ value }) => [value].flat().map(String)) : null,
    isCounted: since <= 1 && until <= 1 && hashes.length <= 1 && since + until + hashes.length === filters.length,
  };
}

/** Column names come from the table of datasets, which a test compares with the rows. */
function groupQuery(dataset: AnalyticsDataset, scope: AnalyticsScope, query: AnalyticsQuery, dimensions: readonly string[]): GroupQuery {
  const by = dimensions.map((name) => {
    const { column, intervalMs } = dataset.fields[name] as StoredField;
    return intervalMs === undefined ? { column } : { column, intervalMs };
  });
  const order = query.order.flatMap(({ by: wanted, direction }) => {
    if (typeof wanted !== "object") return { by: wanted, direction };
    if ("measure" in wanted) return { by: { ...wanted, isPerRow: query.measures[wanted.measure]?.kind === "average" }, direction };
    // A field with a constant value does not affect the order.
    const field = dataset.fields[wanted.dimension]!;
    if (!isStored(field)) return [];
    const at = dimensions.indexOf(wanted.dimension);
    if (at < 0)
      throw new PlatformError("invalid_input", {
        message: `orderBy ${wanted.dimension} requires the dimension ${wanted.dimension} in the query`,
      });
    // Negated fields are stored inverted, so their order is too.
    return { by: at, direction: field.kind !== "negated" ? direction : direction === "asc" ? "desc" : "asc" };
  });
  const measures = query.measures.map(({ kind, column }) => ({ kind: kind === "average" ? "sum" : kind, column }));
  return { where: whereOf(dataset, scope, query.filters), by, measures, order, limit: query.limit } as GroupQuery;
}

function whereOf(dataset: AnalyticsDataset, scope: AnalyticsScope, filters: readonly AnalyticsFilter[]): Where {
  const site: WherePart =
    "zone_id" in scope
      ? { column: "zone_id", operator: "eq", value: scope.zone_id }
      : { column: "account_id", operator: "eq", value: scope.account_id };
  return [site, ...filters.flatMap((filter) => partsOf(dataset, filter))];
}

function partsOf(dataset: AnalyticsDataset, filter: AnalyticsFilter): readonly WherePart[] {
  if ("any" in filter) return [{ any: filter.any.map((all) => all.flatMap((inner) => partsOf(dataset, inner))) }];
  const known = dataset.fields[filter.field]!;
  if (known.kind === "member") return [memberPart(known, filter.value)];
  if (known.kind === "keys" || known.kind === "values")
    return [
      { any: entryTexts(known, String(filter.value)).map((text) => [{ column: known.of, operator: "has", value: text } as Condition]) },
    ];
  if (!isStored(known)) {
    const isAmong = [filter.value].flat().includes(constantOf(known) ?? "");
    return isAmong === (filter.operator === "eq" || filter.operator === "in") ? [] : [{ any: [] }];
  }
  const { column, intervalMs } = known;
  if (intervalMs !== undefined) return timeParts(filter.operator, [filter.value].flat().map(Number), intervalMs);
  const { operator } = filter;
  if (known.aliases !== undefined) return sourceParts(known, operator, filter.value);
  if (known.alsoIn !== undefined && (operator === "eq" || operator === "in"))
    return [{ any: [[{ column, operator, value: filter.value } as Condition], [memberPart(known.alsoIn, filter.value)]] }];
  // Among very many rows, those of one ray could be missing from a sample.
  if (column === "ray_id" && operator === "eq")
    return [{ column, operator, value: String(filter.value) }, ...aroundRay(String(filter.value))] as readonly WherePart[];
  const condition = { column, operator, value: operator.endsWith("like") ? filter.value : asStored(known, filter.value) } as Condition;
  if (known.emptyAs === undefined || (operator !== "like" && operator !== "not_like")) return [condition];
  // A pattern applies to the displayed value, which differs from the stored one if that is empty.
  const isFilled: Condition = { column: condition.column, operator: "ne", value: "" };
  const isEmptyToo = likeTest(String(filter.value))(known.emptyAs) === (operator === "like");
  return [isEmptyToo ? { any: [[condition, isFilled], [{ ...isFilled, operator: "eq" }]] } : { any: [[condition, isFilled]] }];
}

type ComparedValue = Extract<AnalyticsFilter, { readonly value: unknown }>["value"];

/** Rows with one of these values in the member of an object. */
const memberPart = ({ of, member }: ListMember, value: ComparedValue): WherePart =>
  [value].flat().map((one) => ({ column: of, operator: "has", value: JSON.stringify({ [member]: one }).slice(1, -1) }) as Condition);

/** Filters of a field whose values have other names as well. The stored values come first, in their stored case. */
function sourceParts(
  { column, aliases = {}, stored = [] }: StoredField,
  operator: AnalyticsOperator,
  value: ComparedValue,
): readonly WherePart[] {
  const given = [value].flat().map(String);
  const aliasOf = (name: string) =>
    Object.hasOwn(aliases, name.toLowerCase()) && !stored.includes(name) ? aliases[name.toLowerCase()] : undefined;
  if (operator === "like" || operator === "not_like" || given.every((name) => aliasOf(name) === undefined))
    return [{ column, operator, value } as Condition];
  const isWanted = operator === "eq" || operator === "in";
  const compare = (name: string, wanted: string): Condition =>
    ({ column: name, operator: isWanted ? "eq" : "ne", value: wanted }) as Condition;
  const each = given.map((name): Where => {
    const alias = aliasOf(name);
    if (alias === undefined) return [compare(column, name)];
    const conditions = Object.entries(alias ?? {}).map(([part, wanted]) => compare(part, wanted));
    if (alias === null) return isWanted ? [{ any: [] }] : [];
    return isWanted ? conditions : [{ any: conditions.map((condition) => [condition]) }];
  });
  return isWanted ? [{ any: each }] : each.flat();
}

/** Compares times that are rounded down to whole intervals. Lists have any number of times, all other operators one. */
function timeParts(operator: AnalyticsOperator, times: readonly number[], intervalMs: number): readonly WherePart[] {
  const from = (value: number): WherePart => ({ column: "at_ms", operator: "ge", value });
  const until = (value: number): WherePart => ({ column: "at_ms", operator: "lt", value });
  const down = (ms: number): number => Math.floor(ms / intervalMs) * intervalMs;
  const [ms = 0] = times;
  // A time that is not a multiple of the interval matches no interval.
  const intervals = times.filter((time) => time === down(time)).map((time) => [time, time + intervalMs] as const);
  switch (operator) {
    case "ge":
      return [from(-down(-ms))];
    case "gt":
      return [from(down(ms) + intervalMs)];
    case "lt":
      return [until(-down(-ms))];
    case "le":
      return [until(down(ms) + intervalMs)];
    case "ne":
    case "not_in":
      return intervals.map(([begin, end]) => ({ any: [[until(begin)], [from(end)]] }));
    default:
      if (intervals.length === 1) return intervals.flatMap(([begin, end]) => [from(begin), until(end)]);
      return [{ any: intervals.map(([begin, end]) => [from(begin), until(end)]) }];
  }
}

/** Texts of which an object's JSON contains one if it has the entry; inside values, quotes always follow a backslash. */
function entryTexts({ kind }: EntriesField, wanted: string): readonly string[] {
  const text = JSON.stringify(wanted);
  if (kind === "keys") return ["{", ","].map((before) => `${before}${text}:`);
  const forms = /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(wanted) ? [text, wanted] : [text];
  return forms.flatMap((form) => [",", "}"].map((behind) => `:${form}${behind}`));
}

function asStored<T>(field: StoredField, value: T): T {
  if (Array.isArray(value)) return value.map((each: unknown) => asStored(field, each)) as T;
  if (field.kind === "negated") return (1 - Number(value)) as T;
  if (typeof value !== "string") return value;
  if (field.emptyAs !== undefined && value.toLowerCase() === field.emptyAs) return "" as T;
  return (field.isLowerCase ? value.toUpperCase() : value) as T;
}

/** The objects of a stored list, by the names that analytics has for their members. */
const listed = ({ members }: ListField, objects: unknown): readonly Readonly<Record<string, AnalyticsValue>>[] =>
  ((objects ?? []) as readonly Readonly<Record<string, AnalyticsValue>>[]).map((object) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, object[member] ?? null])),
  );

const isStored = (field: AnalyticsField): field is StoredField => "column" in field;

const constantOf = (field: AnalyticsField): string | number | null => (field.kind === "constant" ? field.value : null);

function shown(field: AnalyticsField, value: string | number | boolean | null): AnalyticsValue {
  if (value === null) return null;
  const { kind } = field;
  if (kind === "text") return value === "" ? (field.emptyAs ?? "") : field.isLowerCase ? String(value).toLowerCase() : value;
  if (kind === "time") return `${new Date(Number(value)).toISOString().slice(0, 19)}Z`;
  if (kind === "date") return new Date(Number(value)).toISOString().slice(0, 10);
  if (kind === "negated") return 1 - Number(value);
  return kind === "boolean" ? Boolean(value) : value;
}
