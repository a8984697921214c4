import { PlatformError } from "#kernel/errors/errors.ts";
import type { RecordChanges } from "#control/dns/changes/change-steps.ts";
import type { ShownRow } from "#control/dns/changes/record-view.ts";
import { sameRecord, type VersionedChange } from "#control/dns/changes/version-changes.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { recordsByIds } from "#store/dns/dns-record-rows.ts";
import type { Unit } from "#store/database/store.ts";

/** Throws `dns_undo_conflict` where a record is no longer what the changes made of it. */
export async function assertUnchanged(db: Unit["db"], zone: PlannedZoneRef, changes: readonly VersionedChange[]): Promise<void> {
  const current = await currentRecords(db, zone, changes);
  for (const change of changes) {
    const now = current.get(idOf(change)) ?? null;
    if (!sameRecord(now, change.after)) throw changedSince(change, now);
  }
}

/** Those of the changes whose records are not what they were before them. */
export async function stillChanged(
  db: Unit["db"],
  zone: PlannedZoneRef,
  changes: readonly VersionedChange[],
): Promise<readonly VersionedChange[]> {
  const current = await currentRecords(db, zone, changes);
  return changes.filter((change) => !sameRecord(current.get(idOf(change)) ?? null, change.before));
}

/** What takes the changes back, in pieces of so many: first all that goes, then what comes back. */
export async function* undoPieces(read: () => AsyncIterable<readonly VersionedChange[]>, size: number): AsyncGenerator<RecordChanges> {
  let waiting: VersionedChange[] = [];
  for (const goes of [true, false]) {
    for await (const changes of read()) {
      for (const change of changes) if ((change.before === null) === goes) waiting.push(change);
      for (; waiting.length >= size; waiting = waiting.slice(size)) yield backTo(waiting.slice(0, size));
    }
  }
  if (waiting.length > 0) yield backTo(waiting);
}

/** What takes the changes back. Throws as `assertUnchanged`. */
export async function changesOfRevert(db: Unit["db"], zone: PlannedZoneRef, changes: readonly VersionedChange[]): Promise<RecordChanges> {
  await assertUnchanged(db, zone, changes);
  return backTo(changes);
}

/** What makes the records again what they were before the changes. */
export async function changesOfRestore(
  db: Unit["db"],
  zone: PlannedZoneRef,
  folded: ReadonlyMap<string, VersionedChange>,
): Promise<RecordChanges> {
  return backTo(await stillChanged(db, zone, [...folded.values()]));
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

export const idOf = ({ before, after }: VersionedChange): string => (after ?? before)?.id ?? "";

function changedSince(change: VersionedChange, now: ShownRow | null): PlatformError {
  const { name, type, id } = (change.after ?? change.before) as ShownRow;
  const what = now === null ? "was deleted" : change.after === null ? "was created again" : "was changed";
  return new PlatformError("dns_undo_conflict", { message: `Nothing was reverted: the record ${name} ${type} (${id}) ${what} since.` });
}
