import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { ZONE_READING_GROUPS } from "#model/access/permission-groups.ts";
import { Zone, ZoneCreate, ZoneEdit, ZoneStatusSchema } from "#model/zones/zone.ts";

const Deleted = Type.Object({ id: Type.String() });

const ZoneListQuery = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 280, description: "A name, or an operator, a colon and a value: contains:shop." })),
  status: Type.Optional(ZoneStatusSchema),
  type: Type.Optional(Type.String({ maxLength: 100, description: "One type, or several separated by commas." })),
  "account.id": Type.Optional(Type.String({ maxLength: 32 })),
  "account.name": Type.Optional(Type.String({ maxLength: 280 })),
  match: Type.Optional(Type.Enum(["any", "all"])),
  order: Type.Optional(Type.Enum(["name", "status", "account.id", "account.name", "plan.id"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});

export const ZONE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones",
    id: "zones-list",
    summary: "List zones",
    scope: "open",
    permissions: ZONE_READING_GROUPS,
    query: ZoneListQuery,
    result: Zone,
    paging: "page",
    per_page: { min: 5, default: 20, max: 50 },
    handler: ({ control, call, query, page }) => control.zones.list(call, query, page),
  }),
  route({
    method: "POST",
    path: "/zones",
    id: "zones-create",
    summary: "Create a zone",
    scope: "open",
    permissions: ["Zone Write"],
    body: ZoneCreate,
    result: Zone,
    paging: "one",
    handler: ({ control, call, body }) => control.zones.create(call, body),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id",
    id: "zones-get",
    summary: "Show a zone",
    scope: "zone",
    permissions: ZONE_READING_GROUPS,
    result: Zone,
    paging: "one",
    handler: ({ control, call, params }) => control.zones.get(params.zone_id, call),
  }),
  route({
    method: "PATCH",
    path: "/zones/:zone_id",
    id: "zones-edit",
    summary: "Edit a zone",
    scope: "zone",
    permissions: ["Zone Write"],
    body: ZoneEdit,
    result: Zone,
    paging: "one",
    handler: ({ control, call, params, body }) => control.zones.edit(call, params.zone_id, body),
  }),
  route({
    method: "DELETE",
    path: "/zones/:zone_id",
    id: "zones-delete",
    summary: "Delete a zone and everything in it",
    scope: "zone",
    permissions: ["Zone Write"],
    result: Deleted,
    paging: "one",
    handler: ({ control, call, params }) => control.zones.delete(call, params.zone_id),
  }),
  route({
    method: "PUT",
    path: "/zones/:zone_id/activation_check",
    id: "zones-activation-check",
    summary: "Check the zone's activation again",
    scope: "zone",
    permissions: ["Zone Write"],
    result: Deleted,
    paging: "one",
    handler: ({ control, call, params }) => control.zones.checkActivation(call, params.zone_id),
  }),
];
