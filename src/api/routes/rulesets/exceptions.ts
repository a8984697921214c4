import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { ExceptionDraft, ExceptionRequest } from "#model/rulesets/exception.ts";

export const EXCEPTION_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/zones/:zone_id/rulesets/exceptions/from_event",
    id: "zone-rulesets-exceptions-from-event",
    summary: "Draft the narrowest skip rule for the request of a security event",
    scope: "zone",
    permissions: ["Zone WAF Read", "Zone WAF Write"],
    body: ExceptionRequest,
    result: ExceptionDraft,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.eventExceptions.fromEvent(call, zoneOf(resolved).id, body),
  }),
];
