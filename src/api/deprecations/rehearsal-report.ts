import type { CallShape } from "#deprecations/call-shape.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { curlOf, sdkOf } from "#deprecations/call-text.ts";
import { asWritten, rewritten, type WrittenCall } from "#deprecations/rewrite.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type Finding, isBreaking, rehearse } from "#deprecations/rehearsal.ts";
import type { IsoDate } from "#kernel/clock.ts";
import type { Rehearsal, RehearsalFinding } from "#model/access/rehearsal.ts";

/** Calls of one form, as a server has recorded them or a log has them. */
export interface CountedCall {
  readonly route: string;
  readonly shape: CallShape;
  readonly api_date: IsoDate | null;
  readonly token_id: string;
  readonly token_name: string | null;
  readonly day: string;
  readonly calls: number;
}

interface Looked extends CountedCall {
  readonly pin: IsoDate | null;
}

/** The report of a rehearsal: a finding for each row, caller, route and outcome, the earliest date first. */
export function rehearsalReport(
  table: readonly Deprecation[],
  calls: readonly CountedCall[],
  { from, asOf, isCut }: { readonly from: IsoDate; readonly asOf: IsoDate; readonly isCut: boolean },
): Rehearsal {
  const looked = calls.map((call): Looked => ({ ...call, pin: call.api_date }));
  const found = rehearse(table, looked, { from, asOf });
  const findings = new Map<string, RehearsalFinding>();
  for (const one of found) {
    const key = JSON.stringify([one.row.id, one.call.token_id, one.call.api_date, one.call.route, one.outcome]);
    const known = findings.get(key);
    findings.set(key, known === undefined ? findingOf(one) : merged(known, one.call));
  }
  const broken = new Set(found.filter(isBreaking).map(({ call }) => call));
  return {
    as_of: asOf,
    from,
    calls: total(calls),
    breaking: total([...broken]),
    findings: [...findings.values()],
    is_cut: isCut,
  };
}

const total = (calls: readonly CountedCall[]): number => calls.reduce((sum, { calls: count }) => sum + count, 0);

const findingOf = ({ row, call, outcome, error, isKept }: Finding<Looked>): RehearsalFinding => ({
  ...{ deprecation_id: row.id, date: row.date, outcome, error, why: row.why, replacement: row.replacement },
  ...{ route: call.route, token_id: call.token_id },
  ...rewriteOf(row, call),
  ...(call.token_name === null ? {} : { token_name: call.token_name }),
  ...(call.api_date === null ? {} : { api_date: call.api_date }),
  ...{ is_kept: isKept, calls: call.calls, last: call.day },
});

function rewriteOf(row: Deprecation, { route, shape }: Looked): Pick<RehearsalFinding, "rewrite"> {
  const [method = "", path = ""] = route.split(" ");
  const before: WrittenCall = { method, path, query: shape.query, ...(shape.body === undefined ? {} : { body: shape.body }) };
  try {
    const newest = rewritten(row, before);
    return newest === null ? {} : { rewrite: { before: curlOf(asWritten(row, before)), curl: curlOf(newest), sdk: sdkOf(newest) } };
  } catch (error) {
    // A placeholder may replace a value where the older reading needs one of a few.
    if (error instanceof PlatformError) return {};
    throw error;
  }
}

const merged = (known: RehearsalFinding, { calls, day }: CountedCall): RehearsalFinding => ({
  ...known,
  calls: known.calls + calls,
  last: day > known.last ? day : known.last,
});
