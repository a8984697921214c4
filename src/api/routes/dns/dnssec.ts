import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { Dnssec, DnssecEdit, DnssecRollover, ZoneSigningKey } from "#model/dns/dnssec.ts";

const READ = ["DNS Read", "DNS Write"] as const;
const WRITE = ["DNS Write"] as const;

export const DNSSEC_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/dnssec",
    id: "dnssec-get",
    summary: "Show the zone's DNSSEC status and its DS record",
    scope: "zone",
    permissions: READ,
    result: Dnssec,
    paging: "one",
    handler: ({ control, call, resolved }) => control.dnssec.get(call, zoneOf(resolved)),
  }),
  route({
    method: "PATCH",
    path: "/zones/:zone_id/dnssec",
    id: "dnssec-edit",
    summary: "Turn DNSSEC on or off",
    scope: "zone",
    permissions: WRITE,
    body: DnssecEdit,
    result: Dnssec,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.dnssec.edit(call, zoneOf(resolved), body),
  }),
  route({
    method: "DELETE",
    path: "/zones/:zone_id/dnssec",
    id: "dnssec-delete",
    summary: "Delete the zone's DNSSEC key, while DNSSEC is off",
    scope: "zone",
    permissions: WRITE,
    result: Type.String(),
    paging: "one",
    handler: ({ control, call, resolved }) => control.dnssec.remove(call, zoneOf(resolved)),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/dnssec/zsk",
    id: "dnssec-zsk-list",
    summary: "List the keys that sign the zone",
    scope: "zone",
    permissions: READ,
    result: ZoneSigningKey,
    paging: "list",
    handler: ({ control, resolved }) => control.dnssec.signingKeys(zoneOf(resolved)),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/dnssec/rollover",
    id: "dnssec-rollover-get",
    summary: "Show the state of the zone's key rollover",
    scope: "zone",
    permissions: READ,
    result: DnssecRollover,
    paging: "one",
    handler: ({ control, resolved }) => control.dnssec.rollover(zoneOf(resolved)),
  }),
  route({
    method: "POST",
    path: "/zones/:zone_id/dnssec/rollover",
    id: "dnssec-rollover-start",
    summary: "Start a rollover of the zone's key",
    scope: "zone",
    permissions: WRITE,
    result: DnssecRollover,
    paging: "one",
    handler: ({ control, call, resolved }) => control.dnssec.startRollover(call, zoneOf(resolved)),
  }),
];
