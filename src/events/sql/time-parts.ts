import { windowOf } from "./time-window.ts";
import { isCondition, type Condition, type Where, type WherePart } from "./where-sql.ts";

/** A time range, from inclusive to exclusive, and the conditions that must hold in it. */
export interface TimePart {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rest: Where;
}

/** Limit of the edges of time ranges into which alternatives are split; each range is read separately. */
const EDGES_MAX = 24;
/**
 * Limit of the values of conditions in all ranges together. One statement takes 32,766, and reads a range from up to
 * seven places.
 */
const VALUES_MAX = 4_000;

/**
 * The time ranges in which conditions can hold, without the conditions on time. Times within alternatives split the whole
 * into ranges in which each of them holds always or never; if they are too many, they stay in `rest`.
 */
export function timeParts(where: Where): readonly TimePart[] {
  const { fromMs, toMs, rest } = windowOf(where);
  const edges = timeEdges(rest);
  if (edges === undefined || edges.length === 0) return [{ fromMs, toMs, rest }];
  const inside = [...new Set(edges)].filter((ms) => ms > fromMs && ms < toMs).toSorted((a, b) => a - b);
  if (inside.length > EDGES_MAX || valuesIn(rest) * (inside.length + 1) > VALUES_MAX) return [{ fromMs, toMs, rest }];
  const bounds = [fromMs, ...inside, toMs];
  return bounds.slice(1).flatMap((end, i) => {
    const begin = bounds[i]!;
    const left = leftAt(rest, Number.isFinite(begin) ? begin : Number.isFinite(end) ? end - 1 : 0);
    return left === undefined || begin >= end ? [] : [{ fromMs: begin, toMs: end, rest: left }];
  });
}

/** Milliseconds at which a time condition begins or ceases to hold; undefined if one does not compare with a number. */
export function timeEdges(where: Where): readonly number[] | undefined {
  const edges: number[] = [];
  const walk = (parts: Where): boolean =>
    parts.every((part) => {
      if (!isCondition(part)) return alternativesOf(part).every(walk);
      if (part.column !== "at_ms") return true;
      const edge = edgeOf(part);
      if (edge !== undefined) edges.push(edge);
      return edge !== undefined;
    });
  return walk(where) ? edges : undefined;
}

const valuesIn = (where: Where): number =>
  where.reduce((sum, part) => {
    if (!isCondition(part)) return sum + alternativesOf(part).reduce((inner, each) => inner + valuesIn(each), 0);
    return sum + (Array.isArray(part.value) ? part.value.length : 1);
  }, 0);

function edgeOf({ operator, value }: Condition): number | undefined {
  if (typeof value !== "number") return undefined;
  if (operator === "ge" || operator === "lt") return Math.ceil(value);
  return operator === "gt" || operator === "le" ? Math.floor(value) + 1 : undefined;
}

const alternativesOf = (part: Exclude<WherePart, Condition>): readonly Where[] =>
  "any" in part ? part.any : part.map((condition) => [condition]);

/** The remaining conditions at this time; undefined if they cannot hold. */
function leftAt(where: Where, ms: number): Where | undefined {
  const left: WherePart[] = [];
  for (const part of where) {
    if (isCondition(part)) {
      if (part.column !== "at_ms") left.push(part);
      else if (!holdsAt(part, ms)) return undefined;
      continue;
    }
    const alternatives = alternativesOf(part).flatMap((inner) => {
      const kept = leftAt(inner, ms);
      return kept === undefined ? [] : [kept];
    });
    if (alternatives.length === 0) return undefined;
    if (alternatives.every((kept) => kept.length > 0)) left.push({ any: alternatives });
  }
  return left;
}

const holdsAt = (condition: Condition, ms: number): boolean => {
  const begins = condition.operator === "ge" || condition.operator === "gt";
  return begins === ms >= edgeOf(condition)!;
};
