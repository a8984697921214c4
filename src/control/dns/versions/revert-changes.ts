import { PlatformError } from "#kernel/errors/errors.ts";
import { createChunkBound } from "#control/dns/changes/chunk-bound.ts";
import type { RecordChanges } from "#control/dns/changes/change-steps.ts";
import type { RecordContentRow } from "#control/dns/changes/record-view.ts";
import { sameRecord, type VersionedChange } from "#control/dns/changes/version-changes.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { recordsByIds } from "#store/dns/dns-record-rows.ts";
import type { Unit } from "#store/database/store.ts";

/** Throws `dns_undo_conflict` if a record differs from its state after the changes. */
export async function assertUnchanged(db: Unit["db"], zone: PlannedZoneRef, changes: readonly VersionedChange[]): Promise<void> {
  const current = await currentRecords(db, zone, changes);
  for (const change of changes) {
    const now = current.get(idOf(change)) ?? null;
    if (!sameRecord(now, change.after)) throw changedSince(change, now);
  }
}

/** The changes whose records differ from their state before. */
export async function stillChanged(
  db: Unit["db"],
  zone: PlannedZoneRef,
  changes: readonly VersionedChange[],
): Promise<readonly VersionedChange[]> {
  const current = await currentRecords(db, zone, changes);
  return changes.filter((change) => !sameRecord(current.get(idOf(change)) ?? null, change.before));
}

/** Changes that undo the given ones, in chunks: first all removals, then all additions and replacements. */
export async function* undoChunks(read: () => AsyncIterable<readonly VersionedChange[]>): AsyncGenerator<RecordChanges> {
  const bound = createChunkBound();
  let waiting: VersionedChange[] = [];
  for (const goes of [true, false])
    for await (const changes of read())
      for (const change of changes) {
        if ((change.before === null) !== goes) continue;
        waiting.push(change);
        if (!bound.add(change.before, change.after)) continue;
        yield backTo(waiting);
        waiting = [];
      }
  if (waiting.length > 0) yield backTo(waiting);
}

/** Changes that undo the given ones. Throws as `assertUnchanged`. */
export async function changesOfRevert(db: Unit["db"], zone: PlannedZoneRef, changes: readonly VersionedChange[]): Promise<RecordChanges> {
  await assertUnchanged(db, zone, changes);
  return backTo(changes);
}

/** Changes that restore the records to their state before the given ones. */
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
): Promise<ReadonlyMap<string, RecordContentRow>> {
  return new Map((await recordsByIds(db, zone.id, changes.map(idOf))).map((row) => [row.id, row]));
}

export const idOf = ({ before, after }: VersionedChange): string => (after ?? before)?.id ?? "";

function changedSince(change: VersionedChange, now: RecordContentRow | null): PlatformError {
  const { name, type, id } = (change.after ?? change.before) as RecordContentRow;
  const what = now === null ? "was deleted" : change.after === null ? "was created again" : "was changed";
  return new PlatformError("dns_undo_conflict", { message: `Nothing was reverted: the record ${name} ${type} (${id}) ${what} since.` });
}
