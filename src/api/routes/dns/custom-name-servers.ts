import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { CustomNameServer, CustomNameServerCreate, ZoneCustomNs, ZoneCustomNsEdit } from "#model/dns/custom-name-server.ts";

const READ = ["Account Settings Read", "Account Settings Write"] as const;
const WRITE = ["Account Settings Write"] as const;

export const CUSTOM_NAME_SERVER_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/accounts/:account_id/custom_ns",
    id: "custom-ns-list",
    summary: "List the account's custom name servers",
    scope: "account",
    permissions: READ,
    result: CustomNameServer,
    paging: "list",
    handler: ({ control, params }) => control.customNameServers.list(params.account_id),
  }),
  route({
    method: "POST",
    path: "/accounts/:account_id/custom_ns",
    id: "custom-ns-create",
    summary: "Add a custom name server",
    scope: "account",
    permissions: WRITE,
    body: CustomNameServerCreate,
    result: CustomNameServer,
    paging: "one",
    handler: ({ control, call, params, body }) => control.customNameServers.create(call, params.account_id, body),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/custom_ns/availability",
    id: "custom-ns-availability",
    summary: "List the zones in which custom name servers can be named",
    scope: "account",
    permissions: READ,
    result: Type.String(),
    paging: "list",
    handler: ({ control, params }) => control.customNameServers.eligibleZones(params.account_id),
  }),
  route({
    method: "POST",
    path: "/accounts/:account_id/custom_ns/verify",
    id: "custom-ns-verify",
    summary: "Check the addresses of the account's custom name servers again",
    scope: "account",
    permissions: WRITE,
    result: CustomNameServer,
    paging: "list",
    // The status reflects the current records at every read.
    handler: ({ control, params }) => control.customNameServers.list(params.account_id),
  }),
  route({
    method: "DELETE",
    path: "/accounts/:account_id/custom_ns/:custom_ns_id",
    id: "custom-ns-delete",
    summary: "Remove a custom name server",
    scope: "account",
    permissions: WRITE,
    result: Type.String(),
    paging: "list",
    handler: ({ control, call, params }) => control.customNameServers.remove(call, params.account_id, params.custom_ns_id),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/custom_ns",
    id: "zone-custom-ns-get",
    summary: "Show whether the zone uses the account's custom name servers",
    scope: "zone",
    permissions: ["Zone Read", "Zone Write", "Zone Settings Read", "Zone Settings Write", "DNS Read", "DNS Write"],
    result: ZoneCustomNs,
    paging: "one",
    handler: ({ control, params }) => control.customNameServers.ofZone(params.zone_id),
  }),
  route({
    method: "PUT",
    path: "/zones/:zone_id/custom_ns",
    id: "zone-custom-ns-update",
    summary: "Choose whether the zone uses the account's custom name servers",
    scope: "zone",
    permissions: ["Zone Write"],
    body: ZoneCustomNsEdit,
    // Always empty, as clients of the vendor read it.
    result: Type.String(),
    paging: "list",
    handler: async ({ control, call, params, body }) => {
      await control.customNameServers.editZone(call, params.zone_id, body);
      return [];
    },
  }),
];
