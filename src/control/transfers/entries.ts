import { transferEntry } from "#snapshot/compile/transfer-entry.ts";
import type { Op, TransferEntry } from "#snapshot/entries.ts";
import type { Unit } from "#store/database/store.ts";
import { transferObjectsOf, zoneTransfersOf, zoneTransfersOfAccount } from "#store/dns/transfers.ts";

type Db = Unit["db"];

/** The planes' entries of transfers by zone: of one account's zones, or of all. */
export async function transferEntries(db: Db, accountId: string | null): Promise<ReadonlyMap<string, TransferEntry>> {
  const zones = Map.groupBy(await zoneTransfersOfAccount(db, accountId), (row) => row.zone_id);
  const objects = Map.groupBy(zones.size === 0 ? [] : await transferObjectsOf(db, accountId), (row) => row.account_id);
  const entries = new Map<string, TransferEntry>();
  for (const [zoneId, sides] of zones) {
    const entry = transferEntry(sides, objects.get(sides[0]?.account_id ?? "") ?? []);
    if (entry) entries.set(zoneId, entry);
  }
  return entries;
}

/** Publishes the zone's transfer configuration. */
export async function publishZoneTransfers(unit: Unit, zone: { readonly id: string; readonly account_id: string }): Promise<void> {
  const sides = await zoneTransfersOf(unit.db, zone.id);
  unit.change({ kind: "transfer", id: zone.id, value: transferEntry(sides, await transferObjectsOf(unit.db, zone.account_id)) });
}

/** Runs a write of objects that the account's zones share, and publishes the entries of zones that it changed. */
export async function publishingTransfers<T>(unit: Unit, accountId: string, write: () => Promise<T>): Promise<T> {
  const before = await transferEntries(unit.db, accountId);
  const result = await write();
  const after = await transferEntries(unit.db, accountId);
  for (const [id, entry] of after)
    if (JSON.stringify(entry) !== JSON.stringify(before.get(id))) unit.change({ kind: "transfer", id, value: entry });
  return result;
}

/** The entries of all zones, for a full copy. */
export async function transferOps(db: Db): Promise<Op[]> {
  return Array.from(await transferEntries(db, null), ([id, value]): Op => ({ kind: "transfer", id, value }));
}
