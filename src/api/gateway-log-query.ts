import { listAt } from "#kernel/lists.ts";
import type { Query } from "#deprecations/effect-handler.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

const FILTERS_MAX = 50;

interface Filter {
  key?: string;
  operator?: string;
  readonly value: string[];
}

/**
 * Clients write the list of filters in several ways. One JSON text stays; a JSON object in each repeated `filters`,
 * `filters[0][key]=`, `filters.0.key=` and the repeated `filters.key=` of client libraries become that text. Throws
 * `gateway_input_invalid` if a query mixes two of these ways, or repeats a key or operator: ignoring one would list, or
 * delete, too much.
 */
export function foldLogFilters(query: Query): Query {
  const rest: Record<string, string | readonly string[]> = {};
  const byIndex = new Map<string, Filter>();
  const repeated = new Map<string, string[]>();
  for (const [name, given] of Object.entries(query)) {
    const values = typeof given === "string" ? [given] : given;
    const [, index, part] = /^filters(?:\[(\d{0,3})\]|\.(\d{1,3}))/.exec(name) ? indexed(name) : [];
    if (name === "filters") rest[name] = values.length === 1 ? (values[0] as string) : `[${values.join(",")}]`;
    else if (part !== undefined && index !== undefined) addPart(byIndex, index, part, values);
    else if (/^filters[.[](key|operator|value)\]?(\[\d*\])?$/.test(name)) {
      const list = listAt(repeated, /key|operator|value/.exec(name)?.[0] ?? "");
      for (const value of values) list.push(value);
    } else rest[name] = given;
  }
  const ways = [rest["filters"] !== undefined, byIndex.size > 0, repeated.size > 0].filter(Boolean);
  if (ways.length > 1) throw refused("write the whole list in one form: as JSON, by index, or by repeated key, operator and value.");
  const filters = [...byIndex.values(), ...unfolded(Object.fromEntries(repeated))];
  return filters.length === 0 ? rest : { ...rest, filters: JSON.stringify(filters) };
}

/** The index and the member of a filter, from `filters[0][value][1]` and `filters.0.value` alike. */
function indexed(name: string): readonly (string | undefined)[] {
  return /^filters(?:\[|\.)(\d{0,3})\]?(?:\[|\.)(key|operator|value)\]?(?:\[\d*\]|\.\d+)?$/.exec(name) ?? [];
}

function addPart(filters: Map<string, Filter>, index: string, part: string, values: readonly string[]): void {
  const filter = filters.get(index) ?? { value: [] };
  filters.set(index, filter);
  if (part === "value") {
    for (const value of values) filter.value.push(value);
    return;
  }
  if (values.length > 1 || filter[part as "key" | "operator"] !== undefined) throw refused(`filter ${index} has more than one ${part}.`);
  if (part === "key") filter.key = values[0] ?? "";
  else filter.operator = values[0] ?? "";
}

/** Several filters with one key and operator each: their values are distinguishable if each has one. */
function unfolded({ key = [], operator = [], value = [] }: Readonly<Record<string, readonly string[]>>): readonly Filter[] {
  if (key.length === 0 && operator.length === 0 && value.length === 0) return [];
  if (key.length === 1 && operator.length === 1) return [{ key: key[0] ?? "", operator: operator[0] ?? "", value: [...value] }];
  if (key.length !== operator.length || key.length !== value.length || key.length > FILTERS_MAX)
    throw refused("give one key, one operator and one value for each filter, or write the list as JSON.");
  return key.map((name, i) => ({ key: name, operator: operator[i] ?? "", value: [value[i] ?? ""] }));
}

const refused = (what: string): PlatformError =>
  new PlatformError("gateway_input_invalid", { message: `filters: ${what}`, source: "/filters" });
