import { type TSchema, Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import type { Call } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import type { TransferObjects } from "#control/transfers/objects.ts";
import type { ZoneTransfers } from "#control/transfers/zone-transfers.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import {
  IncomingTransfer,
  IncomingTransferWrite,
  OutgoingTransfer,
  OutgoingTransferWrite,
  TransferAcl,
  TransferAclWrite,
  TransferPeer,
  TransferPeerWrite,
  TransferTsig,
  TransferTsigWrite,
} from "#model/dns/zone-transfer.ts";

const ACCOUNT_READ = ["Account Settings Read", "Account Settings Write"] as const;
const ACCOUNT_WRITE = ["Account Settings Write"] as const;
const ZONE_READ = ["DNS Read", "DNS Write", "Zone Settings Read", "Zone Settings Write", "Zone Write"] as const;
const ZONE_WRITE = ["DNS Write", "Zone Settings Write", "Zone Write"] as const;

const Deleted = Type.Object({ id: Type.String() });

interface Kind {
  /** Last segment of the collection's path. */
  readonly plural: "acls" | "peers" | "tsigs";
  readonly single: "acl" | "peer" | "tsig";
  readonly title: string;
  readonly object: TSchema;
  readonly body: TSchema;
}

/** The five routes of one kind of object. */
function objectRoutes({ plural, single, title, object, body }: Kind): readonly Route[] {
  const collection = `/accounts/:account_id/secondary_dns/${plural}` as const;
  const path: string = `${collection}/:${single}_id`;
  const objects = (control: Control): TransferObjects<unknown, unknown> => control.transfers[plural] as TransferObjects<unknown, unknown>;
  const idOf = (params: Readonly<Record<string, string>>): readonly [account: string, id: string] => [
    params["account_id"] ?? "",
    params[`${single}_id`] ?? "",
  ];
  const reading = { scope: "account", permissions: ACCOUNT_READ, result: object } as const;
  const writing = { scope: "account", permissions: ACCOUNT_WRITE } as const;
  return [
    route({
      ...reading,
      method: "GET",
      path: collection,
      id: `transfer-${plural}-list`,
      summary: `List ${title}s`,
      paging: "list",
      handler: ({ control, call, params }) => objects(control).list(call, params.account_id),
    }),
    route({
      ...writing,
      method: "POST",
      path: collection,
      id: `transfer-${plural}-create`,
      summary: `Create a ${title}`,
      body,
      result: object,
      paging: "one",
      handler: ({ control, call, params, body: given }) => objects(control).create(call, params.account_id, given),
    }),
    route({
      ...reading,
      method: "GET",
      path,
      id: `transfer-${plural}-get`,
      summary: `Show a ${title}`,
      paging: "one",
      handler: ({ control, call, params }) => objects(control).get(call, ...idOf(params)),
    }),
    route({
      ...writing,
      method: "PUT",
      path,
      id: `transfer-${plural}-update`,
      summary: `Replace a ${title}`,
      body,
      result: object,
      paging: "one",
      handler: ({ control, call, params, body: given }) => objects(control).update(call, ...idOf(params), given),
    }),
    route({
      ...writing,
      method: "DELETE",
      path,
      id: `transfer-${plural}-delete`,
      summary: `Delete a ${title}`,
      result: Deleted,
      paging: "one",
      handler: ({ control, call, params }) => objects(control).remove(call, ...idOf(params)),
    }),
  ];
}

/** The four routes of one direction. */
function directionRoutes(direction: "incoming" | "outgoing", configuration: TSchema, body: TSchema): readonly Route[] {
  const path = `/zones/:zone_id/secondary_dns/${direction}` as const;
  const transfers = (control: Control): ZoneTransfers<unknown, unknown> => control.transfers[direction] as ZoneTransfers<unknown, unknown>;
  const writing = { path, scope: "zone", permissions: ZONE_WRITE, paging: "one" } as const;
  return [
    route({
      ...writing,
      method: "GET",
      permissions: ZONE_READ,
      id: `${direction}-transfer-get`,
      summary: `Show the zone's ${direction} transfers`,
      result: configuration,
      handler: ({ control, resolved }) => transfers(control).get(zoneOf(resolved)),
    }),
    route({
      ...writing,
      method: "POST",
      id: `${direction}-transfer-create`,
      summary: `Configure ${direction} transfers of the zone`,
      body,
      result: configuration,
      handler: ({ control, call, resolved, body: given }) => transfers(control).create(call, zoneOf(resolved), given),
    }),
    route({
      ...writing,
      method: "PUT",
      id: `${direction}-transfer-update`,
      summary: `Replace the configuration of ${direction} transfers`,
      body,
      result: configuration,
      handler: ({ control, call, resolved, body: given }) => transfers(control).update(call, zoneOf(resolved), given),
    }),
    route({
      ...writing,
      method: "DELETE",
      id: `${direction}-transfer-delete`,
      summary: `Delete the configuration of ${direction} transfers`,
      result: Deleted,
      handler: ({ control, call, resolved }) => transfers(control).remove(call, zoneOf(resolved)),
    }),
  ];
}

/** An operation on the transfers of a zone, answered with a word. */
const operation = (
  method: "GET" | "POST",
  path: string,
  id: string,
  summary: string,
  run: (control: Control["transfers"], call: Call, zone: ZoneRef) => Promise<string>,
): Route =>
  route({
    method,
    path: `/zones/:zone_id/secondary_dns/${path}`,
    id,
    summary,
    scope: "zone",
    permissions: method === "GET" ? ZONE_READ : ZONE_WRITE,
    result: Type.String(),
    paging: "one",
    handler: ({ control, call, resolved }) => run(control.transfers, call, zoneOf(resolved)),
  });

export const SECONDARY_DNS_ROUTES: readonly Route[] = [
  ...objectRoutes({ plural: "acls", single: "acl", title: "transfer ACL", object: TransferAcl, body: TransferAclWrite }),
  ...objectRoutes({ plural: "tsigs", single: "tsig", title: "TSIG key", object: TransferTsig, body: TransferTsigWrite }),
  ...objectRoutes({ plural: "peers", single: "peer", title: "transfer peer", object: TransferPeer, body: TransferPeerWrite }),
  ...directionRoutes("incoming", IncomingTransfer, IncomingTransferWrite),
  ...directionRoutes("outgoing", OutgoingTransfer, OutgoingTransferWrite),
  operation("POST", "force_axfr", "incoming-transfer-force", "Fetch the zone from its primary now", (transfers, call, zone) =>
    transfers.forceAxfr(call, zone),
  ),
  operation("POST", "outgoing/enable", "outgoing-transfer-enable", "Turn outgoing transfers on", (transfers, call, zone) =>
    transfers.enable(call, zone, true),
  ),
  operation("POST", "outgoing/disable", "outgoing-transfer-disable", "Turn outgoing transfers off", (transfers, call, zone) =>
    transfers.enable(call, zone, false),
  ),
  operation("POST", "outgoing/force_notify", "outgoing-transfer-notify", "Notify the zone's secondaries now", (transfers, call, zone) =>
    transfers.forceNotify(call, zone),
  ),
  operation("GET", "outgoing/status", "outgoing-transfer-status", "Show whether outgoing transfers are on", (transfers, _call, zone) =>
    transfers.status(zone),
  ),
];
