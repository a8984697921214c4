import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin } from "#kernel/net/hostname.ts";
import type { FallbackOrigin, FallbackOriginWrite } from "#model/hostnames/custom-hostname.ts";
import { checkPendingNow } from "#store/hostnames/custom-hostnames.ts";
import { deleteFallbackOrigin, fallbackOrigin, type FallbackOriginRow, putFallbackOrigin } from "#store/hostnames/fallback-origins.ts";
import { hostedIn, hostedName } from "#store/zones/local-names.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { checkedName, NAME_ERRORS } from "./hostname-names.ts";
import { VERIFICATION_ERRORS } from "./evaluate-hostname.ts";

/** The origin of custom hostnames without their own. Throws `fallback_origin_not_found`. */
export interface FallbackOrigins {
  get(zone: ZoneRef): Promise<FallbackOrigin>;
  /** The name need not have a record yet: its status reports that, and visitors get error 1016 (SPEC 7). */
  put(call: Call, zone: ZoneRef, body: FallbackOriginWrite): Promise<FallbackOrigin>;
  remove(call: Call, zone: ZoneRef): Promise<FallbackOrigin>;
}

export function createFallbackOrigins(deps: { readonly store: Store; readonly clock: Clock }): FallbackOrigins {
  const { store, clock } = deps;
  const load = async (db: Unit["db"], zoneId: string): Promise<FallbackOriginRow> => {
    const row = await fallbackOrigin(db, zoneId);
    if (row === undefined) throw new PlatformError("fallback_origin_not_found");
    return row;
  };
  const audit = (unit: Unit, call: Call, zone: ZoneRef, action: string, change: { before?: object | null; after?: object | null }): void =>
    unit.audit({
      action,
      actor: auditActor(call),
      account_id: zone.account_id,
      zone_id: zone.id,
      resource: { type: "fallback_origin", id: zone.id },
      ...change,
    });

  return {
    get: async (zone) => view(store.read, await load(store.read, zone.id)),

    put: async (call, zone, body) => {
      const origin = checkedName(body.origin, NAME_ERRORS.origin, "/origin");
      if (!isWithin(origin, zone.name)) throw new PlatformError("hostname_origin_not_in_zone", { source: "/origin" });
      return commit(deps, call, async (unit) => {
        const before = (await fallbackOrigin(unit.db, zone.id)) ?? null;
        const now = isoMicros(clock.nowMicros());
        const row = { zone_id: zone.id, origin, created_at: before?.created_at ?? now, updated_at: now };
        await putFallbackOrigin(unit.db, row);
        // Pending hostnames may only have lacked an origin.
        await checkPendingNow(unit.db, zone.id, clock.nowMs());
        unit.change({ kind: "fallback_origin", id: zone.id, value: { origin } });
        audit(unit, call, zone, "fallback_origin.put", { before, after: row });
        return view(unit.db, row);
      });
    },

    remove: (call, zone) =>
      commit(deps, call, async (unit) => {
        const row = await load(unit.db, zone.id);
        await deleteFallbackOrigin(unit.db, zone.id);
        unit.change({ kind: "fallback_origin", id: zone.id, value: null });
        audit(unit, call, zone, "fallback_origin.delete", { before: row });
        return { ...(await view(unit.db, row)), status: "pending_deletion", updated_at: isoMicros(clock.nowMicros()) };
      }),
  };
}

/** The status is computed from the zone's current records. */
async function view(db: Unit["db"], row: FallbackOriginRow): Promise<FallbackOrigin> {
  const isServed = await isProxiedName(db, row.zone_id, row.origin);
  return {
    origin: row.origin,
    status: isServed ? "active" : "pending_deployment",
    errors: isServed ? [] : [`${row.origin} has no proxied A, AAAA or CNAME record in this zone.`],
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** Why custom hostnames of the zone without their own origin have none now; null if they have one. */
export async function originErrorOf(db: Unit["db"], zoneId: string): Promise<string | null> {
  const row = await fallbackOrigin(db, zoneId);
  if (row === undefined) return VERIFICATION_ERRORS.origin;
  return (await isProxiedName(db, zoneId, row.origin)) ? null : VERIFICATION_ERRORS.originRecord;
}

const ADDRESS_TYPES = new Set(["A", "AAAA", "CNAME"]);

/** Whether the zone has a proxied address record for the name, directly or through a wildcard. */
export async function isProxiedName(db: Unit["db"], zoneId: string, name: string): Promise<boolean> {
  const zone = await zoneRowById(db, zoneId);
  if (zone === undefined || !isWithin(name, zone.name)) return false;
  // A zone below may contain the name; zones that the account does not rely on are ignored.
  const closest = (await hostedName(db, name, zone.account_id))?.zone.name ?? "";
  const hosted = await hostedIn(db, zone, name);
  return closest.length <= zone.name.length && hosted.records.some(({ type, proxied }) => proxied === 1 && ADDRESS_TYPES.has(type));
}
