import { parseTimestamp } from "#kernel/timestamp.ts";
import { ALL_TOKENS } from "#events/rows/computed-columns.ts";
import type { Sql } from "#events/sql/where-sql.ts";

/** A filter of lists, deletions and datasets of gateway logs. All filters must match; within one filter any value may match. */
export interface LogFilter {
  readonly key: LogFilterKey;
  readonly operator: LogOperator;
  readonly value: readonly LogFilterValue[];
  /** Inverts the filter. */
  readonly negated?: boolean;
}

export type LogFilterValue = string | number | boolean | null;

export const LOG_OPERATORS = ["eq", "neq", "contains", "lt", "gt"] as const;
export type LogOperator = (typeof LOG_OPERATORS)[number];

type Kind = "text" | "id" | "time" | "number" | "boolean" | "metadata_key" | "metadata_value";

/** How each key is read from a row. */
const KEYS = {
  id: { kind: "id", sql: "id" },
  created_at: { kind: "time", sql: "at_ms" },
  request_content_type: { kind: "text", sql: "request_content_type" },
  response_content_type: { kind: "text", sql: "response_content_type" },
  request_type: { kind: "text", sql: "request_type" },
  success: { kind: "boolean", sql: "success" },
  cached: { kind: "boolean", sql: "cached" },
  provider: { kind: "text", sql: "provider" },
  model: { kind: "text", sql: "model" },
  model_type: { kind: "text", sql: "model_type" },
  cost: { kind: "number", sql: "cost" },
  tokens: { kind: "number", sql: ALL_TOKENS },
  tokens_in: { kind: "number", sql: "tokens_in" },
  tokens_out: { kind: "number", sql: "tokens_out" },
  duration: { kind: "number", sql: "duration_ms" },
  feedback: { kind: "number", sql: "feedback" },
  score: { kind: "number", sql: "score" },
  event_id: { kind: "text", sql: "event_id" },
  "metadata.key": { kind: "metadata_key", sql: "" },
  "metadata.value": { kind: "metadata_value", sql: "" },
  authentication: { kind: "boolean", sql: "authentication" },
  // Wholesale requests do not exist here.
  wholesale: { kind: "boolean", sql: "0" },
  compatibilityMode: { kind: "boolean", sql: "compatibility_mode" },
  dlp_action: { kind: "text", sql: "dlp_action" },
  guardrail_action: { kind: "text", sql: "guardrail_action" },
  guardrail_findings: { kind: "text", sql: "guardrail_findings" },
  user_agent: { kind: "text", sql: "user_agent" },
} as const satisfies Readonly<Record<string, { readonly kind: Kind; readonly sql: string }>>;

export type LogFilterKey = keyof typeof KEYS;
export const LOG_FILTER_KEYS = Object.keys(KEYS) as readonly LogFilterKey[];

/** Operators that each kind supports besides eq and neq. */
const OPERATORS: Readonly<Record<Kind, readonly LogOperator[]>> = {
  text: ["contains"],
  id: ["contains", "lt", "gt"],
  time: ["lt", "gt"],
  number: ["lt", "gt"],
  boolean: [],
  metadata_key: ["contains"],
  metadata_value: ["contains", "lt", "gt"],
};

/** The filters as a condition; throws RangeError with a message if one is not valid. */
export function filtersSql(filters: readonly LogFilter[]): Sql {
  const parts = filters.map((filter, i) => {
    const value = filters[i + 1];
    if (value !== undefined && isEntry(filter, value)) return { sql: "1", values: [] };
    const key = filters[i - 1];
    if (key !== undefined && isEntry(key, filter)) return entrySql(key, filter);
    return filter.negated === true ? negated(filterSql(filter)) : filterSql(filter);
  });
  return { sql: parts.map((part) => `(${part.sql})`).join(" AND ") || "1", values: parts.flatMap((part) => part.values) };
}

const negated = ({ sql, values }: Sql): Sql => ({ sql: `NOT (${sql})`, values });

/** A value right after a key belongs to that key: `team` and `red` do not match a request whose `shirt` is red. */
const isEntry = (key: LogFilter, value: LogFilter): boolean =>
  key.key === "metadata.key" &&
  value.key === "metadata.value" &&
  [key, value].every((one) => one.operator !== "neq" && one.negated !== true);

function entrySql(key: LogFilter, value: LogFilter): Sql {
  const tests = [key, value].map((filter) => {
    mustFit(filter);
    const { kind } = KEYS[filter.key];
    const any = filter.value.map((one) => entryTest(kind, filter.operator, readValue(filter.key, kind, filter.operator, one)));
    return { sql: any.map((test) => test.sql).join(" OR ") || "0", values: any.flatMap((test) => test.values) };
  });
  return {
    sql: `EXISTS (${ENTRIES} WHERE ${tests.map((test) => `(${test.sql})`).join(" AND ")})`,
    values: tests.flatMap((test) => test.values),
  };
}

function mustFit({ key, operator }: LogFilter): void {
  if (operator !== "eq" && operator !== "neq" && !OPERATORS[KEYS[key].kind].includes(operator))
    throw new RangeError(`${key} cannot be compared by ${operator}.`);
}

function filterSql(filter: LogFilter): Sql {
  const { key, operator, value } = filter;
  const { kind, sql } = KEYS[key];
  mustFit(filter);
  const tests = value.map((one) => testSql(kind, sql, operator, readValue(key, kind, operator, one)));
  // An empty list of values matches no row, so every row differs from it.
  if (tests.length === 0) return { sql: operator === "neq" ? "1" : "0", values: [] };
  return { sql: tests.map((test) => test.sql).join(operator === "neq" ? " AND " : " OR "), values: tests.flatMap((test) => test.values) };
}

type Comparable = string | number | null;

/** Entries of the metadata, if any; each value as text, with its kind. */
const ENTRIES = "SELECT 1 FROM json_each(CASE metadata WHEN '' THEN '{}' ELSE metadata END)";
const ENTRY_TEXT = "CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(value AS TEXT) END";

function testSql(kind: Kind, column: string, operator: LogOperator, value: Comparable): Sql {
  if (kind !== "metadata_key" && kind !== "metadata_value") return comparisonSql(column, operator, value);
  // Rows without such an entry differ from the value.
  const { sql, values } = entryTest(kind, operator === "neq" ? "eq" : operator, value);
  return { sql: `${operator === "neq" ? "NOT " : ""}EXISTS (${ENTRIES} WHERE ${sql})`, values };
}

/** The condition on one entry. */
function entryTest(kind: Kind, operator: LogOperator, value: Comparable): Sql {
  const isOrdered = operator === "lt" || operator === "gt";
  const { sql, values } = comparisonSql(kind === "metadata_key" ? "key" : isOrdered ? "value" : ENTRY_TEXT, operator, value);
  return { sql: isOrdered ? `(${sql} AND type IN ('integer', 'real'))` : sql, values };
}

function comparisonSql(column: string, operator: LogOperator, value: Comparable): Sql {
  switch (operator) {
    case "eq":
      return { sql: `${column} IS ?`, values: [value] };
    case "neq":
      return { sql: `${column} IS NOT ?`, values: [value] };
    case "contains":
      return { sql: `IFNULL(instr(lower(${column}), lower(?)) > 0, 0)`, values: [value] };
    default:
      return { sql: `IFNULL(${column} ${operator === "lt" ? "<" : ">"} ?, 0)`, values: [value] };
  }
}

/** Values come as JSON or as text of a query. */
function readValue(key: LogFilterKey, kind: Kind, operator: LogOperator, value: LogFilterValue): Comparable {
  if (value === null) return null;
  const isOrdered = operator === "lt" || operator === "gt";
  if (kind === "time") return readTime(key, value);
  if (kind === "boolean") {
    const flag = { true: 1, false: 0, "1": 1, "0": 0 }[String(value)];
    if (flag === undefined) throw new RangeError(`${key} is true or false, not ${JSON.stringify(value)}.`);
    return flag;
  }
  if (kind === "number" || (kind === "metadata_value" && isOrdered)) {
    const number = typeof value === "boolean" || value === "" ? Number.NaN : Number(value);
    if (!Number.isFinite(number)) throw new RangeError(`${key} is a number, not ${JSON.stringify(value)}.`);
    return number;
  }
  return String(value);
}

function readTime(key: LogFilterKey, value: string | number | boolean): number {
  const ms = typeof value === "number" ? value : typeof value === "string" ? parseTimestamp(value) : undefined;
  if (ms === undefined || !Number.isFinite(ms))
    throw new RangeError(`${key} is a time as in 2026-01-31T12:00:00Z, not ${JSON.stringify(value)}.`);
  return ms;
}
