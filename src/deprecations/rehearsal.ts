import type { IsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { CallShape } from "./call-shape.ts";
import type { Deprecation } from "./deprecation.ts";
import { interpret } from "./effects/interpreters.ts";
import type { Interpretation, JsonObject } from "./effect-handler.ts";

/** Calls of one kind: by one caller, of one route, in one shape. */
export interface RehearsedCall {
  /** `METHOD /path/with/:parameters`. */
  readonly route: string;
  readonly shape: CallShape;
  /** The API date of the caller alone, by its pin; null where it is the operator's. */
  readonly pin: IsoDate | null;
}

/**
 * What happens to a call on a day: the endpoint is `gone`, the request is `refused`, a part of it is `ignored` that had an effect before,
 * or its `answer` changes, which breaks those who read what is missing.
 */
export type Outcome = "gone" | "refused" | "ignored" | "answer";

export interface Finding<C extends RehearsedCall> {
  readonly row: Deprecation;
  readonly call: C;
  readonly outcome: Outcome;
  /** The error that the caller gets; null where it gets none. */
  readonly error: { readonly code: number; readonly message: string } | null;
  /** The caller's own API date keeps it working. */
  readonly isKept: boolean;
}

/**
 * What would break on the day `asOf` that works on the day `from`. Works on the shapes alone, row by row, and changes nothing. Findings come
 * in the order of the rows' dates.
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
      // A row that is in force for the caller already breaks nothing any more.
      if (!routes.has(call.route) || row.date <= (call.pin ?? from)) continue;
      const found = outcomeOf(call.shape, before, after);
      if (found !== null) findings.push({ row, call, ...found, isKept: call.pin !== null && row.protects === undefined });
    }
  }
  return findings;
}

/** Whether it is more than an answer that changes. */
export const isBreaking = ({ outcome, isKept }: Pick<Finding<RehearsedCall>, "outcome" | "isKept">): boolean =>
  outcome !== "answer" && !isKept;

type Found = Pick<Finding<RehearsedCall>, "outcome" | "error">;

function outcomeOf(shape: CallShape, before: Interpretation, after: Interpretation): Found | null {
  if (after.gone === true) return { outcome: "gone", error: null };
  const [early, late] = [changed(shape, before), changed(shape, after)];
  if (late instanceof PlatformError) return { outcome: "refused", error: { code: late.code, message: late.message } };
  // Where a placeholder stands for a value, the older reading of it may fail; the request has the legacy form all the same.
  const hadEffect = early instanceof PlatformError || early;
  if (hadEffect && !late) return { outcome: "ignored", error: null };
  const answers = (["result", "list", "errors"] as const).some((hook) => before[hook] !== undefined);
  return answers ? { outcome: "answer", error: null } : null;
}

/** Whether the interpreter reads something of the request in its own way, or the error that it refuses it with. */
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
