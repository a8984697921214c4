import type { Usage } from "./usage-formats.ts";

/** The cost that a request states, in US dollars; it replaces the table of prices. */
export type CustomCost = { readonly total: number } | { readonly perTokenIn: number; readonly perTokenOut: number };

/** Maximum cost of one request in US dollars. */
export const COST_MAX = 1_000_000;

/** `{"per_token_in":…,"per_token_out":…}` or `{"total_cost":…}` (reference, part A). Throws RangeError for anything else. */
export function parseCustomCost(text: string): CustomCost {
  const value = parsed(text);
  const { total_cost, per_token_in = 0, per_token_out = 0 } = value;
  if (total_cost !== undefined) return { total: dollars(total_cost) };
  if (!("per_token_in" in value) && !("per_token_out" in value))
    throw new RangeError("must have total_cost or per_token_in and per_token_out");
  return { perTokenIn: dollars(per_token_in), perTokenOut: dollars(per_token_out) };
}

/** Null if tokens are unknown. */
export function customCost(cost: CustomCost, { tokensIn, tokensOut }: Usage): number | null {
  if ("total" in cost) return cost.total;
  if (tokensIn === null && tokensOut === null) return null;
  return Math.round(((tokensIn ?? 0) * cost.perTokenIn + (tokensOut ?? 0) * cost.perTokenOut) * 1e12) / 1e12;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new RangeError("must be a JSON object");
  return value as Readonly<Record<string, unknown>>;
}

function dollars(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number) || number < 0 || number > COST_MAX)
    throw new RangeError(`must have amounts from 0 to ${COST_MAX}`);
  return number;
}
