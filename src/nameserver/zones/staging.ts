import type { StagedEntry } from "#snapshot/entries.ts";
import type { StagedChange } from "#snapshot/feed.ts";
import type { ZoneNodes } from "./zone-nodes.ts";

type Staged = Pick<StagedEntry, "import_id" | "zone_id" | "is_next">;

/** Indexes staged changes, which nobody sees, in slices. */
export interface Staging {
  add(entry: Staged, changes: Iterable<StagedChange>): void;
  /** Does some of what was added, and returns whether there is more. */
  step(): boolean;
  clear(): void;
}

export interface StagingDeps {
  nodesFor(zoneId: string): ZoneNodes;
  /** Stages one record, and returns the number of names that it had to change. */
  stage(nodes: ZoneNodes, entry: Staged, change: StagedChange): number;
  /** Told of each slice how many names it changed. */
  readonly onSlice?: ((names: number) => void) | undefined;
}

/** Names of one slice: a few milliseconds. A record with a deep name may bring more than a hundred. */
export const NAMES_STAGED_AT_ONCE = 300;

export function createStaging({ nodesFor, stage, onSlice }: StagingDeps): Staging {
  const waiting: Iterator<number>[] = [];
  function* work(entry: Staged, changes: Iterable<StagedChange>): Generator<number> {
    const nodes = nodesFor(entry.zone_id);
    for (const change of changes) yield stage(nodes, entry, change);
    nodes.settle();
  }
  return {
    add: (entry, changes) => void waiting.push(work(entry, changes)),
    step: () => {
      let names = 0;
      for (let [next] = waiting; next && names < NAMES_STAGED_AT_ONCE; [next] = waiting) {
        const { value, done } = next.next();
        if (done === true) waiting.shift();
        else names += value;
      }
      onSlice?.(names);
      return waiting.length > 0;
    },
    clear: () => void waiting.splice(0),
  };
}
