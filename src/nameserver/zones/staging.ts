import type { StagedEntry } from "#snapshot/entries.ts";
import type { StagedChange } from "#snapshot/feed.ts";
import { createStagingSlices, type StagingSlices } from "#snapshot/staging-slices.ts";
import type { ZoneNodes } from "./zone-nodes.ts";

type Staged = Pick<StagedEntry, "import_id" | "zone_id" | "is_next">;

/** Indexes staged changes, which nobody sees, in slices. */
export interface Staging extends Pick<StagingSlices, "step" | "clear"> {
  add(entry: Staged, changes: Iterable<StagedChange>): void;
}

export interface StagingDeps {
  nodesFor(zoneId: string): ZoneNodes;
  /** Stages one record, and returns the number of names that it had to change. */
  stage(nodes: ZoneNodes, entry: Staged, change: StagedChange): number;
  /** Told of each slice how many names it changed. */
  readonly onSlice?: ((names: number) => void) | undefined;
}

export function createStaging({ nodesFor, stage, onSlice }: StagingDeps): Staging {
  const { add, step, clear } = createStagingSlices(onSlice);
  function* work(entry: Staged, changes: Iterable<StagedChange>): Generator<number> {
    const nodes = nodesFor(entry.zone_id);
    for (const change of changes) yield stage(nodes, entry, change);
    nodes.settle();
  }
  return { add: (entry, changes) => add(work(entry, changes)), step, clear };
}
