import type { RecordChanges } from "#control/dns/changes/change-steps.ts";
import { createChunkBound } from "#control/dns/changes/chunk-bound.ts";
import type { TransferPlan } from "./plan-transfer.ts";

/** Deletions first, so that the zone never contains more records than the primary's two versions. */
export async function* transferPieces({ changes, added }: Pick<TransferPlan, "changes" | "added">): AsyncGenerator<RecordChanges> {
  const parts = { deletes: changes.deletes, rows: changes.rows, prepared: added.prepared() };
  const empty = (): Record<keyof typeof parts, unknown[]> => ({ deletes: [], rows: [], prepared: [] });
  const bound = createChunkBound();
  let piece = empty();
  let isEmpty = true;
  for (const part of ["deletes", "rows", "prepared"] as const)
    for (const change of parts[part]) {
      piece[part].push(change);
      isEmpty = "cost" in change ? bound.addCost(change.cost) : bound.add(change);
      if (!isEmpty) continue;
      yield piece as RecordChanges;
      piece = empty();
    }
  if (!isEmpty) yield piece as RecordChanges;
}
