import type { CallRule } from "#kernel/call-rules.ts";
import type { Deprecation, Effect } from "./deprecation.ts";
import type { Query } from "./effect-handler.ts";

/**
 * A request without its contents: it keeps field names that the API defines and texts that the table of deprecations
 * names, and has placeholders for everything else. Effects read it as they read a request.
 */
export interface CallShape {
  readonly query: Query;
  /** Absent if the request had no JSON object or list. */
  readonly body?: unknown;
  /** Rules that concern what the call did, which only the server knows; absent if none does. */
  readonly rules?: readonly CallRule[];
}

/** Names and texts of requests that may be kept. */
export interface ShapeWords {
  /** Names of fields and parameters. */
  readonly names: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

/** Placeholder for any other text. */
const TEXT = "x";
const DEPTH_MAX = 8;
/** Limit of the fields and items of one request; later ones are left out. */
const NODES_MAX = 100;
/** The items of a list are mostly alike. */
const ITEMS_MAX = 20;
const VALUES_MAX = 20;

export function shapeOf(query: Query, body: unknown, words: ShapeWords): CallShape {
  const budget = { nodes: NODES_MAX };
  const shapedQuery = Object.fromEntries(
    named(query, words).map(([name, value]) => [
      name,
      typeof value === "string"
        ? textShape(value, words)
        : distinct((value as readonly string[]).slice(0, VALUES_MAX).map((one) => textShape(one, words))),
    ]),
  );
  return typeof body === "object" && body !== null
    ? { query: shapedQuery, body: valueShape(body, words, budget, 0) }
    : { query: shapedQuery };
}

/** Drops other names, since they may be secrets. Sorts them, so that one shape has one text. */
const named = (object: object, { names }: ShapeWords): readonly (readonly [string, unknown])[] =>
  Object.entries(object)
    .filter(([name, value]) => names.has(name) && value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

function valueShape(value: unknown, words: ShapeWords, budget: { nodes: number }, depth: number): unknown {
  if (typeof value === "string") return textShape(value, words);
  if (typeof value === "number") return 0;
  if (typeof value === "boolean") return false;
  if (typeof value !== "object" || value === null) return null;
  const items = Array.isArray(value) ? value.slice(0, ITEMS_MAX) : named(value, words);
  if (depth === DEPTH_MAX) return Array.isArray(value) ? [] : {};
  const shaped: unknown[] = [];
  for (const item of items) {
    if (budget.nodes-- <= 0) break;
    shaped.push(
      Array.isArray(value) ? valueShape(item, words, budget, depth + 1) : [item[0], valueShape(item[1], words, budget, depth + 1)],
    );
  }
  return Array.isArray(value) ? distinct(shaped) : Object.fromEntries(shaped as [string, unknown][]);
}

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];

/** Keeps a comma, because it tells whether a filter was a list. */
function textShape(text: string, { texts, prefixes }: ShapeWords): string {
  if (texts.has(text)) return text;
  const prefix = prefixes.find((one) => text.startsWith(one)) ?? "";
  return prefix + (text.includes(",", prefix.length) ? `${TEXT},${TEXT}` : TEXT);
}

/** The words that the table names. `names`: fields and parameters of the routes. */
export function shapeWords(table: readonly Deprecation[], names: Iterable<string>): ShapeWords {
  const words = table.map(({ effect }) => wordsOf(effect));
  return {
    names: new Set([...names, ...words.flatMap((of) => of.names.flatMap((name) => name.split(".")))]),
    texts: new Set(words.flatMap((of) => of.texts)),
    prefixes: [...new Set(words.flatMap((of) => of.prefixes))],
  };
}

interface EffectWords {
  readonly names: readonly string[];
  readonly texts: readonly string[];
  readonly prefixes: readonly string[];
}

const NONE: EffectWords = { names: [], texts: [], prefixes: [] };

/** By kind; the type makes a missing kind an error. */
const EFFECT_WORDS: { readonly [K in Effect["kind"]]: (effect: Extract<Effect, { kind: K }>) => EffectWords } = {
  endpoint_gone: () => NONE,
  protocol_rule: () => NONE,
  call_rule: () => NONE,
  error_wrapper: () => NONE,
  omit_response_fields: () => NONE,
  omit_list_items: ({ ids }) => ({ names: ["items", "id"], texts: ids, prefixes: [] }),
  ignore_request_fields: ({ fields }) => ({ names: fields, texts: [], prefixes: [] }),
  reject_request_fields: ({ within, fields, type, telltale }) => ({
    names: [within, "type", ...fields, ...telltale],
    texts: [type, type.toLowerCase()],
    prefixes: [],
  }),
  reject_query_forms: ({ forms }) => ({
    names: forms.map(({ parameter }) => parameter),
    texts: [],
    prefixes: forms.flatMap((form) => ("prefix" in form ? [form.prefix] : [])),
  }),
  legacy_alias: ({ fields }) => ({
    names: fields.flatMap(({ field, newest }) => [field, newest]),
    texts: fields.flatMap(({ values = [] }) => values.flat().filter((value) => typeof value === "string")),
    prefixes: [],
  }),
  joined_alias: ({ field, newest, item }) => ({ names: [field, newest, item], texts: [], prefixes: [] }),
  listed_alias: ({ field, newest, item }) => ({ names: [field, newest, item, "type"], texts: [], prefixes: [] }),
};

const wordsOf = (effect: Effect): EffectWords => (EFFECT_WORDS[effect.kind] as (effect: Effect) => EffectWords)(effect);
