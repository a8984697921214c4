import { type Route, route } from "#api/route.ts";
import { DeprecationCall } from "#model/access/deprecation-call.ts";

/** For operators before a date: the tokens that would break. */
export const DEPRECATION_CALL_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/accounts/:account_id/deprecation_calls",
    id: "deprecation-calls-list",
    summary: "List the tokens that still use deprecated parts of the API, newest day first",
    scope: "account",
    permissions: ["Account API Tokens Read", "Account API Tokens Write"],
    result: DeprecationCall,
    paging: "page",
    per_page: { default: 100, max: 1000 },
    handler: ({ control, params, page }) => control.deprecationCalls.list(params.account_id, page),
  }),
];
