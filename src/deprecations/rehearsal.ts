import type { IsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { CallShape } from "./call-shape.ts";
import type { CallRuleEffect, Deprecation } from "./deprecation.ts";
import { interpret } from "./effects/interpreters.ts";
import type { Interpretation, JsonObject } from "./effect-handler.ts";

/** Calls by one caller, of one route, in one shape. */
export interface RehearsedCall {
  /** `METHOD /path/with/:parameters`. */
  readonly route: string;
  readonly shape: CallShape;
  /** The API date that this caller has pinned; null if the operator's applies. */
  readonly pin: IsoDate | null;
}

/**
 * The fate of a call on a day: the endpoint is `gone`, the request is `refused`, a part that had an effect is `ignored`,
 * or its `answer` changes, which breaks clients that read the missing part.
 */
export type Outcome = "gone" | "refused" | "ignored" | "answer";

export interface Finding<C extends RehearsedCall> {
  readonly row: Deprecation;
  readonly call: C;
  readonly outcome: Outcome;
  /** The error that the caller gets; null if none. */
  readonly error: { readonly code: number; readonly message: string } | null;
  /** The caller's pinned API date keeps it working. */
  readonly isKept: boolean;
}

/**
 * Calls that work on the day `from` and break on the day `asOf`, in the order of the rows' dates. Works on shapes alone,
 * row by row, and changes nothing.
 */
export function rehearse<C extends RehearsedCall>(
  table: readonly Deprecation[],
  calls: readonly C[],
  { from, asOf }: { readonly from: IsoDate; readonly asOf: IsoDate },
): readonly Finding<C>[] {
  const findings: Finding<C>[] = [];
  const coming = table.filter(({ date }) => date <= asOf).toSorted((a, b) => (a.date < b.date ? -1 : 1));
  for (const row of coming) {
    const { before, after } = interpret(row);
    const routes = new Set(row.routes);
    for (const call of calls) {
      // A row that is in force for the caller already cannot break anything.
      if (!routes.has(call.route) || row.date <= (call.pin ?? from)) continue;
      const found = outcomeOf(call, before, after, row);
      if (found !== null) findings.push({ row, call, ...found, isKept: call.pin !== null && row.protects === undefined });
    }
  }
  return findings;
}

/** True if more than the response changes, and no pinned date keeps the call working. */
export const isBreaking = ({ outcome, isKept }: Pick<Finding<RehearsedCall>, "outcome" | "isKept">): boolean =>
  outcome !== "answer" && !isKept;

type Found = Pick<Finding<RehearsedCall>, "outcome" | "error">;

function outcomeOf({ route, shape }: RehearsedCall, before: Interpretation, after: Interpretation, { effect }: Deprecation): Found | null {
  if (after.gone === true) return { outcome: "gone", error: null };
  if (effect.kind === "call_rule") return outcomeOfRule(shape, effect);
  const [early, late] = [changed(shape, before), changed(shape, after)];
  if (late instanceof PlatformError) return { outcome: "refused", error: { code: late.code, message: late.message } };
  // A placeholder may be invalid in the older form; the request has the legacy form all the same.
  const hadEffect = early instanceof PlatformError || early;
  if (hadEffect && !late) return { outcome: "ignored", error: null };
  // The list in the response to a write has only what the request names.
  const hooks = route.startsWith("GET ") ? (["result", "list", "errors"] as const) : (["result", "errors"] as const);
  const answers = hooks.some((hook) => before[hook] !== undefined);
  return answers ? { outcome: "answer", error: null } : null;
}

/** The server, which knew the state before the call, noted that the rule concerned it. */
function outcomeOfRule({ rules = [], body }: CallShape, { rule, field }: CallRuleEffect): Found | null {
  if (!rules.includes(rule)) return null;
  const isRefused = field === undefined || (typeof body === "object" && body !== null && field in body);
  return { outcome: isRefused ? "refused" : "answer", error: null };
}

/** True if the interpreter changes the request; the error if it refuses it. */
function changed({ query, body }: CallShape, does: Interpretation): boolean | PlatformError {
  try {
    if (does.query !== undefined && does.query(query) !== query) return true;
    if (does.body === undefined || typeof body !== "object" || body === null || Array.isArray(body)) return false;
    return does.body(body as JsonObject) !== body;
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
}
