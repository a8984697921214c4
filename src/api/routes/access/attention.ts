import { type Route, route } from "#api/route.ts";
import { Attention } from "#model/access/attention.ts";

export const ATTENTION_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/accounts/:account_id/attention",
    id: "attention-list",
    summary:
      "List what needs a person: zones that are not served, failing certificates, hostnames, transfers and deliveries, deprecated calls",
    scope: "account",
    permissions: ["Account Settings Read", "Account Settings Write"],
    result: Attention,
    paging: "list",
    handler: ({ control, call, params }) => control.attention.list(call, params.account_id),
  }),
];
