import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { holdsInEveryZone, touchedAccounts, touchesAccount } from "#control/access/grants.ts";
import type { Call } from "#control/call.ts";
import { serialAfter } from "#wire/dns/serial.ts";
import type { Admission } from "#control/ownership/admission.ts";
import { findPlan } from "#model/zones/plan.ts";
import type { ZoneEdit, ZoneType } from "#model/zones/zone.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** Zones of type internal are for views, which are not supported. */
const TYPES: ReadonlySet<ZoneType> = new Set(["full", "partial", "secondary"]);

/** The given account, or the only one in which the credential has permissions. */
export function accountFor(call: Call, named: string | undefined): string {
  const reached = named === undefined || named === "" ? touchedAccounts(call.actor) : [named];
  const id = reached[0];
  if (id === undefined || reached.length > 1)
    throw new PlatformError("invalid_input", { message: "account.id is required", source: "/account/id" });
  if (!touchesAccount(call.actor, id)) throw new PlatformError("unauthorized_resource");
  if (!holdsInEveryZone(call.actor, id, ["Zone Write"])) throw new PlatformError("authentication_error");
  return id;
}

export function newZone(deps: { readonly clock: Clock }, accountId: string, name: string, type: ZoneType): ZoneRow {
  const now = isoMicros(deps.clock.nowMicros());
  return {
    id: newId(),
    account_id: accountId,
    name,
    status: "pending",
    type,
    paused: 0,
    plan: "free",
    name_servers: "[]",
    settings: "{}",
    edge_settings: "{}",
    waf_migration: "start",
    serial: Math.floor(deps.clock.nowMs() / 1000),
    record_count: 0,
    dns_version_count: 0,
    vanity_name_servers: "[]",
    proof: "none",
    verification_key: "",
    original_name_servers: null,
    pair: "[]",
    activated_on: null,
    created_on: now,
    modified_on: now,
  };
}

/** The columns that admission determines. */
export function columnsOf(admission: Admission, { serial, created_on }: ZoneRow): Partial<ZoneRow> {
  const { status, proof, pair, shown, serialSeen, asksParent } = admission;
  return {
    ...{ status, proof, pair: JSON.stringify(pair ?? []), name_servers: JSON.stringify(shown) },
    activated_on: status === "active" ? created_on : null,
    verification_key: status === "pending" && asksParent ? newId() : "",
    // Secondaries of an earlier zone of this name must see a later serial (RFC 1982).
    serial: serialAfter(serialSeen, serial),
  };
}

export function editedColumns(body: ZoneEdit): Partial<ZoneRow> {
  checkType(body.type);
  const plan = body.plan && findPlan(body.plan.id);
  if (body.plan && plan === undefined)
    throw new PlatformError("invalid_input", {
      message: `the plan ${JSON.stringify(body.plan.id)} does not exist`,
      source: "/plan/id",
    });
  return {
    ...(body.paused === undefined ? {} : { paused: body.paused ? 1 : 0 }),
    ...(plan === undefined ? {} : { plan: plan.name }),
    ...(body.vanity_name_servers === undefined ? {} : { vanity_name_servers: JSON.stringify(body.vanity_name_servers.map(nameServer)) }),
  };
}

function nameServer(text: string, index: number): string {
  const name = parseHostname(text);
  if (name === undefined)
    throw new PlatformError("invalid_input", {
      message: `${JSON.stringify(text)} is not a valid host name`,
      source: `/vanity_name_servers/${index}`,
    });
  return name;
}

export function checkType(type: ZoneType | undefined): void {
  if (type !== undefined && !TYPES.has(type)) throw new PlatformError("zone_type_unavailable", { source: "/type" });
}
