import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { PurgeEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { type Purgeable, type PurgeTest, purgeTest } from "./purge-matcher.ts";

/** What the zones of a replica have purged. */
export interface Purges {
  /** How many purges of a zone are known: every later one may take away what is asked for now. */
  countOf(zoneId: string): number;
  /** `written`: how many were known when the response was last seen, which may be more than now. */
  isPurged(response: Purgeable, written: number): boolean;
  /** Calls back with what is gone before the replica says that it has applied a purge; `note` is told first. */
  onPurged(sweep: (isGone: PurgeTest) => void, note: (zoneId: string, count: number) => void): void;
}

export function createPurges(replica: Replica): Purges {
  const { snapshot } = replica;
  const countOf = (zoneId: string): number => snapshot.get("purge", zoneId)?.count ?? 0;
  const testOf = (zoneId: string, entry: PurgeEntry): PurgeTest =>
    purgeTest(entry, snapshot.get("zone", zoneId)?.edge?.cache_level ?? EDGE_SETTINGS_DEFAULTS.cache_level);
  return {
    countOf,
    isPurged: (response, written) => {
      const { zoneId, purges } = response.asked;
      if (snapshot.get("zone", zoneId) === undefined || (written > countOf(zoneId) && purges < written)) return true;
      const entry = snapshot.get("purge", zoneId);
      return entry !== undefined && testOf(zoneId, entry)(response);
    },
    onPurged: (sweep, note) =>
      replica.onApplied((ops) => {
        const tests = new Map<string, PurgeTest>();
        const add = (zoneId: string, entry: PurgeEntry): void => {
          note(zoneId, entry.count);
          tests.set(zoneId, testOf(zoneId, entry));
        };
        if (ops === null) for (const [zoneId, entry] of snapshot.entries("purge")) add(zoneId, entry);
        for (const op of ops ?? []) {
          if (op.kind === "purge" && op.value !== null) add(op.id, op.value);
          else if (op.kind === "zone" && op.value === null) tests.set(op.id, () => true);
        }
        if (tests.size > 0) sweep((response) => tests.get(response.asked.zoneId)?.(response) === true);
      }),
  };
}
