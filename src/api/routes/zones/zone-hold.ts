import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { ZoneHold, ZoneHoldEdit } from "#model/zones/zone-hold.ts";

const HOLD = "/zones/:zone_id/hold";
const read = { scope: "zone", method: "GET", permissions: ["Zone Read", "Zone Write"], result: ZoneHold, paging: "one" } as const;
const write = { scope: "zone", permissions: ["Zone Write"], path: HOLD, result: ZoneHold, paging: "one" } as const;

export const ZONE_HOLD_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: HOLD,
    id: "zone-hold-get",
    summary: "Show the zone's hold",
    handler: ({ control, resolved }) => control.zoneHolds.get(zoneOf(resolved).id),
  }),
  route({
    ...write,
    method: "POST",
    id: "zone-hold-create",
    summary: "Hold the zone's name and optionally the names below it",
    query: Type.Object({ include_subdomains: Type.Optional(Type.Enum(["true", "false"])) }),
    handler: ({ control, call, resolved, query }) =>
      control.zoneHolds.create(call, zoneOf(resolved).id, query.include_subdomains === "true"),
  }),
  route({
    ...write,
    method: "PATCH",
    id: "zone-hold-edit",
    summary: "Change the zone's hold",
    body: ZoneHoldEdit,
    handler: ({ control, call, resolved, body }) => control.zoneHolds.edit(call, zoneOf(resolved).id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    id: "zone-hold-delete",
    summary: "Release the zone's hold, permanently or until a point in time",
    query: Type.Object({ hold_after: Type.Optional(Type.String({ maxLength: 64 })) }),
    handler: ({ control, call, resolved, query }) => control.zoneHolds.release(call, zoneOf(resolved).id, query.hold_after),
  }),
  route({
    ...read,
    path: `${HOLD}/:zone_name`,
    id: "zone-hold-of-name",
    summary: "Show how the zone's hold affects a name in it",
    // Published clients read the members beside the envelope's (contract.md §6).
    also: (hold: ZoneHold) => hold,
    handler: ({ control, resolved, params }) => control.zoneHolds.ofName(zoneOf(resolved).id, params.zone_name),
  }),
];
