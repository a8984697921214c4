import { indexOfPart } from "#rules/text/text-search.ts";

/** An object in the manner of document queries: fields and operators, `$and`, `$or`, `$not`. */
export type RouteCondition = Readonly<Record<string, unknown>>;

/** Data that conditions read. */
export interface RouteFacts {
  /** The request's own metadata. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The request's body. */
  readonly body: Readonly<Record<string, unknown>>;
}

type Comparison = (value: unknown, wanted: unknown) => boolean;

const numbers = (compare: (a: number, b: number) => boolean): Comparison => {
  return (value, wanted) => {
    const [a, b] = [Number(value), Number(wanted)];
    return value !== undefined && value !== null && value !== "" && Number.isFinite(a) && Number.isFinite(b) && compare(a, b);
  };
};

/** Numbers equal their texts, because metadata may be written either way. */
const same: Comparison = (value, wanted) => value === wanted || (value !== undefined && value !== null && String(value) === String(wanted));
const among: Comparison = (value, wanted) => Array.isArray(wanted) && wanted.some((one) => same(value, one));

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  $eq: same,
  $ne: (value, wanted) => !same(value, wanted),
  $gt: numbers((a, b) => a > b),
  $gte: numbers((a, b) => a >= b),
  $lt: numbers((a, b) => a < b),
  $lte: numbers((a, b) => a <= b),
  $in: among,
  $nin: (value, wanted) => !among(value, wanted),
  $exists: (value, wanted) => (value !== undefined) === (wanted !== false),
  $contains: (value, wanted) =>
    Array.isArray(value) ? value.some((one) => same(one, wanted)) : typeof value === "string" && indexOfPart(value, String(wanted)) !== -1,
};

const DEPTH_MAX = 8;

/** Whether the condition matches. An invalid one does not. */
export function holds(condition: RouteCondition, facts: RouteFacts, depth = 0): boolean {
  if (depth > DEPTH_MAX) return false;
  return Object.entries(condition).every(([name, wanted]) => {
    const parts = Array.isArray(wanted) ? wanted.filter(isCondition) : [];
    if (name === "$and") return parts.every((part) => holds(part, facts, depth + 1));
    if (name === "$or") return parts.some((part) => holds(part, facts, depth + 1));
    if (name === "$not") return isCondition(wanted) && !holds(wanted, facts, depth + 1);
    const value = fieldOf(name, facts);
    if (!isCondition(wanted)) return same(value, wanted);
    return Object.entries(wanted).every(([operator, operand]) => COMPARISONS[operator]?.(value, operand) ?? false);
  });
}

/** `metadata.plan`, `body.stream`, `body.messages.0.role`; without its first part a name is one of the metadata. */
export function fieldOf(path: string, { metadata, body }: RouteFacts): unknown {
  const [root = "", ...rest] = path.split(".", 16);
  const start: readonly [unknown, readonly string[]] =
    root === "metadata" ? [metadata, rest] : root === "body" ? [body, rest] : [metadata, [root, ...rest]];
  let value = start[0];
  for (const name of start[1]) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** The problem of a condition, or null. */
export function conditionProblem(condition: unknown, depth = 0): string | null {
  if (!isCondition(condition)) return "a condition must be an object";
  if (depth > DEPTH_MAX) return "conditions are nested too deeply";
  for (const [name, wanted] of Object.entries(condition)) {
    if (name === "$and" || name === "$or") {
      if (!Array.isArray(wanted)) return `${name} needs a list of conditions`;
      const problem = wanted.map((part) => conditionProblem(part, depth + 1)).find((found) => found !== null);
      if (problem !== undefined) return problem;
    } else if (name === "$not") {
      const problem = conditionProblem(wanted, depth + 1);
      if (problem !== null) return problem;
    } else if (name.startsWith("$")) return `the operator ${name.slice(0, 32)} is not supported`;
    else if (isCondition(wanted)) {
      const unknown = Object.keys(wanted).find((operator) => !Object.hasOwn(COMPARISONS, operator));
      if (unknown !== undefined) return `the operator ${unknown.slice(0, 32)} is not supported`;
    }
  }
  return null;
}

const isCondition = (value: unknown): value is RouteCondition => typeof value === "object" && value !== null && !Array.isArray(value);
