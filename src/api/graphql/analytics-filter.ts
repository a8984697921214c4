import { PlatformError } from "#kernel/errors/errors.ts";
import {
  ANALYTICS_OPERATORS,
  type AnalyticsDataset,
  type AnalyticsField,
  type AnalyticsFilter,
  type AnalyticsOperator,
} from "#model/events/analytics.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";

export type FilterInput = { readonly [name: string]: string | number | boolean | null | readonly (string | number | FilterInput)[] };

const DEPTH_MAX = 5;
/** Limits of the conditions of one node, and of the values in all of its lists: each row is compared with each of them. */
const CONDITIONS_MAX = 200;
const VALUES_MAX = 1_000;
/** Limits of the pattern conditions of one node, of the length of each, and of all together. */
const PATTERNS_MAX = 32;
const PATTERN_MAX = 1_000;
const PATTERN_CHARACTERS_MAX = 10_000;

/**
 * The conditions of a node, with types already checked by GraphQL. `renamed` has the node's different field names. Throws
 * `invalid_input` for an invalid time, and for more conditions than a reasonable query has.
 */
export function filtersOf(
  dataset: AnalyticsDataset,
  input: FilterInput,
  renamed: Readonly<Record<string, string>> = {},
): readonly AnalyticsFilter[] {
  let conditions = 0;
  let values = 0;
  let patterns = 0;
  let patternCharacters = 0;
  const count = (more: number): void => {
    conditions += more;
    if (conditions > CONDITIONS_MAX)
      throw new PlatformError("invalid_input", { message: `A filter can have at most ${CONDITIONS_MAX} conditions.` });
  };
  /** Even an empty filter counts as one condition. */
  const some = (given: FilterInput, depth: number): AnalyticsFilter[] => {
    const found = walk(given, depth);
    if (found.length === 0) count(1);
    return found;
  };
  const walk = (given: FilterInput, depth: number): AnalyticsFilter[] => {
    if (depth > DEPTH_MAX)
      throw new PlatformError("invalid_input", { message: `AND and OR can be nested at most ${DEPTH_MAX} levels deep.` });
    return Object.entries(given).flatMap(([name, value]): AnalyticsFilter[] => {
      // An omitted variable is not a condition.
      if (value === null) return [];
      if (name === "OR") return [{ any: (value as readonly FilterInput[]).map((inner) => some(inner, depth + 1)) }];
      if (name === "AND") return (value as readonly FilterInput[]).flatMap((inner) => some(inner, depth + 1));
      count(weightOf(dataset, name, value, renamed));
      values += Array.isArray(value) ? value.length : 0;
      if (values > VALUES_MAX)
        throw new PlatformError("invalid_input", { message: `The lists of a filter can have at most ${VALUES_MAX} values.` });
      patterns += isPattern(name) ? 1 : 0;
      patternCharacters += isPattern(name) ? String(value).length : 0;
      if (patterns > PATTERNS_MAX)
        throw new PlatformError("invalid_input", {
          message: `A filter can have at most ${PATTERNS_MAX} conditions that end with _like or _notlike.`,
        });
      if (isPattern(name) && String(value).length > PATTERN_MAX)
        throw new PlatformError("invalid_input", { message: `${name} can have at most ${PATTERN_MAX} characters.` });
      if (patternCharacters > PATTERN_CHARACTERS_MAX)
        throw new PlatformError("invalid_input", {
          message: `The values of all _like and _notlike conditions together can have at most ${PATTERN_CHARACTERS_MAX} characters.`,
        });
      return [condition(dataset, name, value as Value, renamed)];
    });
  };
  return walk(input, 1);
}

const isPattern = (name: string): boolean => /_(?:not)?like$/.test(name);

/** Number of comparisons of one condition: each time in a list is compared separately. */
function weightOf(
  dataset: AnalyticsDataset,
  name: string,
  value: NonNullable<FilterInput[string]>,
  renamed: Readonly<Record<string, string>>,
): number {
  const base = name.replace(/_[a-z]+$/, "");
  const kind = dataset.fields[renamed[base] ?? base]?.kind;
  return Array.isArray(value) && (kind === "time" || kind === "date") ? Math.max(1, value.length) : 1;
}

type Value = string | number | boolean | readonly (string | number)[];

function condition(dataset: AnalyticsDataset, name: string, value: Value, renamed: Readonly<Record<string, string>>): AnalyticsFilter {
  // linear: pumped
  const [, base = "", suffix = ""] = /^(.*?)((?:_[a-z]+)?)$/.exec(name) ?? [];
  const field = renamed[base] ?? base;
  const known: AnalyticsField | undefined = dataset.fields[field];
  if (known === undefined) throw new PlatformError("invalid_input", { message: `${name} is not a condition of this node.` });
  const operator = (ANALYTICS_OPERATORS[known.kind] as Readonly<Record<string, AnalyticsOperator>>)[suffix]!;
  const { kind } = known;
  if (kind !== "time" && kind !== "date") return { field, operator, value };
  return {
    field,
    operator,
    value: Array.isArray(value) ? value.map((each) => timeOf(name, kind, String(each))) : timeOf(name, kind, String(value)),
  };
}

function timeOf(name: string, kind: "time" | "date", text: string): number {
  const ms = parseTimestamp(kind === "date" ? `${text}T00:00:00Z` : text);
  if (ms === undefined)
    throw new PlatformError("invalid_input", {
      message: `${name} must be a ${kind === "date" ? "date like 2030-01-31" : "time like 2030-01-31T08:00:00Z"}`,
    });
  return ms;
}
