import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin, parseHostname } from "#kernel/net/hostname.ts";
import { parseTimestamp, timestampSeconds } from "#kernel/timestamp.ts";
import type { ZoneHold, ZoneHoldEdit } from "#model/zones/zone-hold.ts";
import { namesUp } from "#store/zones/local-names.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { type HoldOfZone, holdsOfNames, putZoneHold, zoneHold, type ZoneHoldRow } from "#store/zones/zone-holds.ts";
import { lockZone, zoneRowById } from "#store/zones/zones.ts";

/** Reserves a zone's name, and optionally the names below, against other accounts (SPEC 9, "Zone hold"). */
export interface ZoneHolds {
  get(zoneId: string): Promise<ZoneHold>;
  /** The zone's hold for a name in it; throws `not_found` for a name outside. */
  ofName(zoneId: string, name: string): Promise<ZoneHold>;
  create(call: Call, zoneId: string, includeSubdomains: boolean): Promise<ZoneHold>;
  edit(call: Call, zoneId: string, body: ZoneHoldEdit): Promise<ZoneHold>;
  /** Permanently, or until a time (RFC 3339). */
  release(call: Call, zoneId: string, holdAfter: string | undefined): Promise<ZoneHold>;
}

export function createZoneHolds(deps: { readonly store: Store; readonly clock: Clock }): ZoneHolds {
  const { store, clock } = deps;
  const change = (call: Call, zoneId: string, action: string, next: (before: Held) => Held): Promise<ZoneHold> =>
    commit(deps, call, async (unit) => {
      await lockZone(unit.db, zoneId);
      const before = heldIn(await zoneHold(unit.db, zoneId), clock.nowMs());
      const after = next(before);
      await putZoneHold(unit.db, { zone_id: zoneId, ...columnsOf(after), modified_on: isoMicros(clock.nowMicros()) });
      unit.audit({
        action,
        actor: auditActor(call),
        account_id: (await zoneRowById(unit.db, zoneId))?.account_id ?? null,
        zone_id: zoneId,
        resource: { type: "zone_hold", id: zoneId },
        before: view(before),
        after: view(after),
      });
      return view(after);
    });
  /** Milliseconds since the epoch; null if the time is not in the future. Throws `invalid_input` unless the text is RFC 3339. */
  const later = (text: string): number | null => {
    const ms = parseTimestamp(text);
    if (ms === undefined)
      throw new PlatformError("invalid_input", { message: `"hold_after" must be an RFC 3339 time.`, source: "/hold_after" });
    return ms > clock.nowMs() ? ms : null;
  };

  return {
    get: async (zoneId) => view(heldIn(await zoneHold(store.read, zoneId), clock.nowMs())),
    ofName: async (zoneId, text) => {
      const zone = await zoneRowById(store.read, zoneId);
      const name = parseHostname(text);
      if (zone === undefined || name === undefined || !isWithin(name, zone.name)) throw new PlatformError("not_found");
      const held = heldIn(await zoneHold(store.read, zoneId), clock.nowMs());
      return view({ ...held, hold: held.hold && (name === zone.name || held.include_subdomains) });
    },
    create: (call, zoneId, includeSubdomains) =>
      change(call, zoneId, "zone_hold.create", () => ({ hold: true, hold_after_ms: null, include_subdomains: includeSubdomains })),
    edit: async (call, zoneId, body) => {
      const after = body.hold_after === undefined || body.hold_after === null || body.hold_after === "" ? null : later(body.hold_after);
      return change(call, zoneId, "zone_hold.edit", (before) => ({
        ...(body.hold_after === undefined ? before : { hold: after === null, hold_after_ms: after }),
        include_subdomains: body.include_subdomains ?? before.include_subdomains,
      }));
    },
    release: async (call, zoneId, holdAfter) => {
      const after = holdAfter === undefined || holdAfter === "" ? null : later(holdAfter);
      return change(call, zoneId, "zone_hold.delete", (before) => ({ ...before, hold: false, hold_after_ms: after }));
    },
  };
}

/**
 * Whether a zone at or above the name prevents its use as a custom hostname by the account: holds with subdomains do
 * (SPEC 7), both the account's own and those of proved zones.
 */
export async function isNameHeld(db: Unit["db"], name: string, accountId: string, nowMs: number): Promise<boolean> {
  const holds = await holdsOfNames(db, namesUp(name));
  return holds.some((row) => (row.account_id === accountId || isProved(row)) && row.include_subdomains === 1 && heldIn(row, nowMs).hold);
}

/** Whether another account holds a zone with the name, or one above it including subdomains. */
export async function isHeldByOthers(db: Unit["db"], name: string, accountId: string, nowMs: number): Promise<boolean> {
  const holds = await holdsOfNames(db, namesUp(name));
  const concerns = (row: HoldOfZone): boolean => row.name === name || row.include_subdomains === 1;
  return holds.some((row) => row.account_id !== accountId && isProved(row) && concerns(row) && heldIn(row, nowMs).hold);
}

/** An unproved zone cannot hold its name against others. */
const isProved = ({ proof }: HoldOfZone): boolean => proof !== "none";

interface Held {
  readonly hold: boolean;
  readonly hold_after_ms: number | null;
  readonly include_subdomains: boolean;
}

/** A released hold takes effect again by itself. */
function heldIn(row: ZoneHoldRow | undefined, nowMs: number): Held {
  const includes = row?.include_subdomains === 1;
  if (row === undefined) return { hold: false, hold_after_ms: null, include_subdomains: false };
  const isBack = row.hold_after_ms !== null && row.hold_after_ms <= nowMs;
  return { hold: row.hold === 1 || isBack, hold_after_ms: isBack ? null : row.hold_after_ms, include_subdomains: includes };
}

const columnsOf = ({ hold, hold_after_ms, include_subdomains }: Held) => ({
  hold: hold ? 1 : 0,
  hold_after_ms,
  include_subdomains: include_subdomains ? 1 : 0,
});

const view = ({ hold, hold_after_ms, include_subdomains }: Held): ZoneHold => ({
  hold,
  hold_after: hold_after_ms === null ? "" : timestampSeconds(hold_after_ms),
  include_subdomains,
});
