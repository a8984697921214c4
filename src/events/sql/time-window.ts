import { isCondition, type Where } from "./where-sql.ts";

/** The time range of the conditions, from inclusive to exclusive, and the conditions that do not concern time. */
export function windowOf(where: Where): { readonly fromMs: number; readonly toMs: number; readonly rest: Where } {
  let fromMs = -Infinity;
  let toMs = Infinity;
  const rest = where.filter((part) => {
    if (!isCondition(part) || part.column !== "at_ms" || typeof part.value !== "number") return true;
    const { operator, value } = part;
    if (operator === "ge" || operator === "gt") fromMs = Math.max(fromMs, operator === "ge" ? Math.ceil(value) : Math.floor(value) + 1);
    else if (operator === "lt" || operator === "le") toMs = Math.min(toMs, operator === "lt" ? Math.ceil(value) : Math.floor(value) + 1);
    else return true;
    return false;
  });
  return { fromMs, toMs, rest };
}
