import { PlatformError } from "#kernel/errors.ts";
import type { RecordChanges } from "#control/dns/change-records.ts";
import type { ShownRow } from "#control/dns/record-view.ts";
import { sameRecord, type VersionedChange } from "#control/dns/version-changes.ts";
import type { PlannedZoneRef } from "#control/zones/zone-ref.ts";
import { recordsByIds } from "#store/dns-record-rows.ts";
import type { Unit } from "#store/store.ts";

/** What takes the changes back. Throws `dns_undo_conflict` where a record is no longer what they made of it. */
export async function changesOfRevert(db: Unit["db"], zone: PlannedZoneRef, changes: readonly VersionedChange[]): Promise<RecordChanges> {
  const current = await currentRecords(db, zone, changes);
  for (const change of changes) {
    const now = current.get(idOf(change)) ?? null;
    if (!sameRecord(now, change.after)) throw changedSince(change, now);
  }
  return backTo(changes);
}

/** What makes the records again what they were before the changes. */
export async function changesOfRestore(
  db: Unit["db"],
  zone: PlannedZoneRef,
  folded: ReadonlyMap<string, VersionedChange>,
): Promise<RecordChanges> {
  const current = await currentRecords(db, zone, [...folded.values()]);
  return backTo([...folded.values()].filter((change) => !sameRecord(current.get(idOf(change)) ?? null, change.before)));
}

const backTo = (changes: readonly VersionedChange[]): RecordChanges => ({
  deletes: changes.filter(({ before }) => before === null).map((change) => ({ id: idOf(change) })),
  restores: changes.map(({ before }) => before).filter((before) => before !== null),
});

async function currentRecords(
  db: Unit["db"],
  zone: PlannedZoneRef,
  changes: readonly VersionedChange[],
): Promise<ReadonlyMap<string, ShownRow>> {
  return new Map((await recordsByIds(db, zone.id, changes.map(idOf))).map((row) => [row.id, row]));
}

const idOf = ({ before, after }: VersionedChange): string => (after ?? before)?.id ?? "";

function changedSince(change: VersionedChange, now: ShownRow | null): PlatformError {
  const { name, type, id } = (change.after ?? change.before) as ShownRow;
  const what = now === null ? "was deleted" : change.after === null ? "is there again" : "was changed";
  return new PlatformError("dns_undo_conflict", { message: `Nothing was undone: the record ${name} ${type} (${id}) ${what} since.` });
}
