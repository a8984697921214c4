import { isTransferEnabled } from "#control/dns/dnssec/signature-serial.ts";
import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { incomingStatus } from "#control/secondary/status.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import type { IncomingTransfer, IncomingTransferWrite, OutgoingTransfer, OutgoingTransferWrite } from "#model/dns/zone-transfer.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import { AUTO_REFRESH_SECONDS } from "#model/dns/zone-transfer.ts";
import { serialEntry } from "#snapshot/compile/zone-entry.ts";
import { lockAccount } from "#store/access/accounts.ts";
import { beginIncoming, deleteIncomingState, incomingState, type IncomingState } from "#store/dns/incoming-transfers.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  deleteZoneTransfer,
  putZoneTransfer,
  type TransferDirection,
  transferObjects,
  zoneTransfer,
  type ZoneTransferRow,
} from "#store/dns/transfers.ts";
import { zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { publishZoneTransfers } from "./entries.ts";

/** The transfer configuration of a zone in one direction. */
export interface ZoneTransfers<T, W> {
  get(zone: ZoneRef): Promise<T>;
  /** Throws `invalid_input` if it exists already, or a peer does not exist. */
  create(call: Call, zone: ZoneRef, body: W): Promise<T>;
  update(call: Call, zone: ZoneRef, body: W): Promise<T>;
  remove(call: Call, zone: ZoneRef): Promise<{ id: string }>;
  /** Throws `not_found` if the zone has no such configuration. */
  assertConfigured(zone: ZoneRef): Promise<void>;
  /** Whether transfers are enabled. Throws `not_found`. */
  isEnabled(zone: ZoneRef): Promise<boolean>;
  /** Enables or disables transfers. Throws `not_found`. */
  enable(call: Call, zone: ZoneRef, enabled: boolean): Promise<void>;
}

export interface ZoneTransfersDeps {
  readonly store: Store;
  readonly clock: Clock;
}

interface Stored {
  readonly name: string;
  readonly peers: readonly string[];
  readonly auto_refresh_seconds?: number;
  /** Only outgoing transfers can be disabled, which is their default. */
  readonly enabled?: boolean;
}

export const createIncoming = (deps: ZoneTransfersDeps): ZoneTransfers<IncomingTransfer, IncomingTransferWrite> =>
  createZoneTransfers(deps, "incoming", (row, facts) => {
    const { auto_refresh_seconds = AUTO_REFRESH_SECONDS } = JSON.parse(row.settings) as Stored;
    return { ...common(row, facts), auto_refresh_seconds, ...incomingStatus(facts.zone, facts.state) };
  });

export const createOutgoing = (deps: ZoneTransfersDeps): ZoneTransfers<OutgoingTransfer, OutgoingTransferWrite> =>
  createZoneTransfers(deps, "outgoing", common);

/** Data for displaying a configuration. */
interface Facts {
  readonly zone: ZoneRow | undefined;
  readonly state: IncomingState | undefined;
}

function common(row: ZoneTransferRow, { zone }: Facts): OutgoingTransfer {
  const { name, peers } = JSON.parse(row.settings) as Stored;
  // A secondary zone has no serial before its first transfer.
  const serial = !zone || primaryCopy(zone)?.apex === null ? 0 : serialEntry(zone).serial;
  return { id: row.id, name, peers: [...peers], created_time: row.created_on, modified_time: row.modified_on, soa_serial: serial };
}

function createZoneTransfers<T extends object, W extends Omit<Stored, "name" | "enabled"> & { readonly name?: string }>(
  deps: ZoneTransfersDeps,
  direction: TransferDirection,
  view: (row: ZoneTransferRow, facts: Facts) => T,
): ZoneTransfers<T, W> {
  const { store, clock } = deps;

  const load = async (db: Unit["db"], zone: ZoneRef): Promise<ZoneTransferRow> => {
    const row = await zoneTransfer(db, zone.id, direction);
    if (!row) throw new PlatformError("not_found", { message: `The zone has no ${direction} transfer.` });
    return row;
  };
  const shown = async (db: Unit["db"], row: ZoneTransferRow): Promise<T> =>
    view(row, { zone: await zoneRowById(db, row.zone_id), state: await incomingState(db, row.zone_id) });

  const write = (call: Call, zone: ZoneRef, body: W, action: "create" | "update"): Promise<T> =>
    commit(deps, call, async (unit) => {
      // Peers must not be deleted while the configuration refers to them.
      await lockAccount(unit.db, zone.account_id);
      const before = action === "update" ? await load(unit.db, zone) : await assertNone(unit.db, zone, direction);
      await assertPeers(unit.db, zone, body.peers);
      const now = isoMicros(clock.nowMicros());
      const { peers, auto_refresh_seconds } = body;
      const { enabled } = JSON.parse(before?.settings ?? "{}") as Partial<Stored>;
      const settings: Stored = {
        name: zoneNameOf(zone, body.name),
        peers,
        ...(enabled === undefined ? {} : { enabled }),
        ...(auto_refresh_seconds === undefined ? {} : { auto_refresh_seconds }),
      };
      const row: ZoneTransferRow = {
        zone_id: zone.id,
        direction,
        id: before?.id ?? newId(),
        settings: JSON.stringify(settings),
        created_on: before?.created_on ?? now,
        modified_on: now,
      };
      const shownBefore = before && (await shown(unit.db, before));
      await putZoneTransfer(unit.db, row);
      if (direction === "incoming") await beginIncoming(unit.db, zone.id, clock.nowMs());
      await publishZoneTransfers(unit, zone);
      const after = await shown(unit.db, row);
      unit.audit({ ...transferAudit(call, zone, `${direction}_transfer.${action}`), before: shownBefore, after });
      return after;
    });

  return {
    get: async (zone) => shown(store.read, await load(store.read, zone)),
    create: (call, zone, body) => write(call, zone, body, "create"),
    update: (call, zone, body) => write(call, zone, body, "update"),
    remove: (call, zone) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, zone);
        const shownBefore = await shown(unit.db, before);
        await deleteZoneTransfer(unit.db, zone.id, direction);
        if (direction === "incoming") await deleteIncomingState(unit.db, zone.id);
        await publishZoneTransfers(unit, zone);
        unit.audit({ ...transferAudit(call, zone, `${direction}_transfer.delete`), before: shownBefore });
        return { id: before.id };
      }),
    assertConfigured: async (zone) => void (await load(store.read, zone)),
    isEnabled: async (zone) => isTransferEnabled(await load(store.read, zone)),
    enable: (call, zone, enabled) =>
      commit(deps, call, async (unit) => {
        await lockAccount(unit.db, zone.account_id);
        const before = await load(unit.db, zone);
        const settings: Stored = { ...(JSON.parse(before.settings) as Stored), enabled };
        await putZoneTransfer(unit.db, { ...before, settings: JSON.stringify(settings), modified_on: isoMicros(clock.nowMicros()) });
        await publishZoneTransfers(unit, zone);
        const action = `${direction}_transfer.${enabled ? "enable" : "disable"}`;
        unit.audit({ ...transferAudit(call, zone, action), before: { enabled: isTransferEnabled(before) }, after: { enabled } });
      }),
  };
}

async function assertNone(db: Unit["db"], zone: ZoneRef, direction: TransferDirection): Promise<null> {
  if (await zoneTransfer(db, zone.id, direction))
    throw new PlatformError("invalid_input", { message: `The zone already has an ${direction} transfer.` });
  return null;
}

async function assertPeers(db: Unit["db"], zone: ZoneRef, peers: readonly string[]): Promise<void> {
  const known = new Set((await transferObjects(db, zone.account_id, "peer")).map(({ id }) => id));
  const at = peers.findIndex((id, i) => !known.has(id) || peers.indexOf(id) !== i);
  if (at !== -1)
    throw new PlatformError("invalid_input", {
      message: `${JSON.stringify(peers[at])} is not a peer of the account, or is named twice.`,
      source: `/peers/${at}`,
    });
}

/** Clients may send the zone's name, with a final dot. */
function zoneNameOf(zone: ZoneRef, given: string | undefined): string {
  if (given !== undefined && given.toLowerCase().replace(/\.$/, "") !== zone.name)
    throw new PlatformError("invalid_input", { message: `"name" must be the zone's name, ${zone.name}.`, source: "/name" });
  return `${zone.name}.`;
}

/** The audit row of a change of a zone's transfers. */
export const transferAudit = (call: Call, zone: ZoneRef, action: string) => ({
  action,
  actor: auditActor(call),
  account_id: zone.account_id,
  zone_id: zone.id,
  resource: { type: "zone_transfer", id: zone.id },
});
