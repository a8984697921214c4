import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { PurgeEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { type Purgeable, type PurgeTest, purgeTest } from "./purge-matcher.ts";

/** Purges of the zones in a replica. */
export interface Purges {
  /** Number of known purges of a zone; later ones apply to a response requested now. */
  countOf(zoneId: string): number;
  /** `written`: number of purges when the response was last stored, which may exceed the number known now. */
  isPurged(response: Purgeable, written: number): boolean;
  /** Calls `sweep` with each new purge before the replica reports it as applied, and `note` before that. */
  onPurged(sweep: (isGone: PurgeTest) => void, note: (zoneId: string, count: number) => void): void;
}

export function createPurges(replica: Replica): Purges {
  const { snapshot } = replica;
  const countOf = (zoneId: string): number => snapshot.get("purge", zoneId)?.count ?? 0;
  const testOf = (zoneId: string, entry: PurgeEntry): PurgeTest =>
    purgeTest(entry, { ...EDGE_SETTINGS_DEFAULTS, ...snapshot.get("zone", zoneId)?.edge });
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
