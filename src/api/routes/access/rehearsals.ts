import { type CountedCall, rehearsalReport } from "#api/deprecations/rehearsal-report.ts";
import { type Route, route } from "#api/route.ts";
import type { CallShape } from "#deprecations/call-shape.ts";
import { parseIsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { Rehearsal, RehearsalCreate } from "#model/access/rehearsal.ts";

const DAYS = 7;

export const REHEARSAL_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/accounts/:account_id/deprecations/rehearsals",
    id: "deprecation-rehearsals-create",
    summary: "Show which recorded calls of the account would break on a day; changes nothing",
    scope: "account",
    permissions: ["Account API Tokens Read", "Account API Tokens Write"],
    body: RehearsalCreate,
    result: Rehearsal,
    paging: "one",
    handler: async ({ control, params, body, edition }) => {
      const asOf = parseIsoDate(body.as_of);
      if (asOf === undefined)
        throw new PlatformError("invalid_input", { message: "as_of must be a day such as 2027-01-01.", source: "/as_of" });
      const { calls, isCut } = await control.recordedCalls.list(params.account_id, body.days ?? DAYS);
      const counted = calls.map((call): CountedCall => ({ ...call, shape: JSON.parse(call.shape) as CallShape }));
      return rehearsalReport(edition.table, counted, { from: edition.date(), asOf, isCut });
    },
  }),
];
