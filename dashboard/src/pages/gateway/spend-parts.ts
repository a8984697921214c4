import type { Group } from "../../api/analytics.ts";
import type { TimeRange } from "../../api/time-range.ts";
import { count, money } from "../../parts/time.tsx";

export type Spent = Group<{ readonly ts: string; readonly part: string | null }>;

export interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly cached: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly durationMs: number;
  /** Dollars. */
  readonly cost: number;
}

/** Requests, tokens and cost of one model, provider or team. */
export interface Part extends Sums {
  readonly name: string;
  readonly over: { readonly total: Sums; readonly steps: readonly Sums[] };
}

export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly kind: "bars" | "lines";
  readonly of: (sums: Sums) => number;
  readonly format: (value: number) => string;
}

/** Fractions of a cent matter: one short answer costs less than one. */
export const costFormat = (dollars: number): string => (dollars === 0 ? "$0" : money(dollars));

export const MEASURES: readonly [Measure, ...Measure[]] = [
  { id: "cost", title: "Cost", kind: "bars", of: ({ cost }) => cost, format: costFormat },
  { id: "tokens", title: "Tokens", kind: "bars", of: ({ tokensIn, tokensOut }) => tokensIn + tokensOut, format: count },
  { id: "requests", title: "Requests", kind: "bars", of: ({ requests }) => requests, format: count },
  {
    id: "latency",
    title: "Mean time",
    kind: "lines",
    of: ({ durationMs, requests }) => (requests === 0 ? 0 : durationMs / requests),
    format: (value) => `${count(Math.round(value))} ms`,
  },
];

const NONE: Sums = { requests: 0, errors: 0, cached: 0, tokensIn: 0, tokensOut: 0, durationMs: 0, cost: 0 };

const add = (a: Sums, b: Sums): Sums =>
  Object.fromEntries((Object.keys(NONE) as (keyof Sums)[]).map((name) => [name, a[name] + b[name]])) as unknown as Sums;

const sumsOf = ({ count: requests, sum = {} }: Spent): Sums => ({
  requests,
  errors: sum["erroredRequests"] ?? 0,
  cached: sum["cachedRequests"] ?? 0,
  tokensIn: sum["tokensIn"] ?? 0,
  tokensOut: sum["tokensOut"] ?? 0,
  durationMs: sum["durationMs"] ?? 0,
  cost: sum["cost"] ?? 0,
});

/** Parts by their cost, the dearest first. With a `key`, the groups' part is metadata, of which the key's value counts. */
export function partsOf(groups: readonly Spent[], { sinceMs, untilMs, stepMs }: TimeRange, key: string | undefined): readonly Part[] {
  const length = Math.round((untilMs - sinceMs) / stepMs);
  const found = new Map<string, { total: Sums; readonly steps: Sums[] }>();
  for (const group of groups) {
    const name = nameOf(group.dimensions.part, key);
    let part = found.get(name);
    if (!part) found.set(name, (part = { total: NONE, steps: Array.from({ length }, () => NONE) }));
    const sums = sumsOf(group);
    part.total = add(part.total, sums);
    const at = Math.floor((Date.parse(group.dimensions.ts) - sinceMs) / stepMs);
    if (part.steps[at]) part.steps[at] = add(part.steps[at], sums);
  }
  return [...found].map(([name, over]) => ({ name, over, ...over.total })).toSorted((a, b) => b.cost - a.cost || b.requests - a.requests);
}

function nameOf(part: string | null, key: string | undefined): string {
  if (key === undefined) return part || "unknown";
  const value = metadataOf(part)[key];
  return value === undefined || value === "" ? `without ${key}` : String(value);
}

/** An object of JSON; anything else is one without entries. */
function metadataOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** `team search, user ada`. */
export const metadataWords = (text: string): string =>
  Object.entries(metadataOf(text))
    .map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(", ") || "–";

const KEYS_MAX = 12;

/** The keys of metadata, the most frequent first. */
export function keysOf(groups: readonly Group<{ readonly part: string | null }>[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { count: of, dimensions } of groups)
    for (const key of Object.keys(metadataOf(dimensions.part))) counts.set(key, (counts.get(key) ?? 0) + of);
  return [...counts]
    .toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, KEYS_MAX)
    .map(([key]) => key);
}
