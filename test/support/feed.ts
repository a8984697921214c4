import { MessageChannel } from "node:worker_threads";
import type { Delta, EntryKind, Op, StagedRecord } from "#snapshot/entries.ts";
import type { FeedLog, FeedPort, FullCopy, Position, Snapshot } from "#snapshot/feed.ts";
import { readLastGood } from "#snapshot/last-good/last-good.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import type { FeedSource } from "#snapshot/feed.ts";
import { createSnapshotState } from "#snapshot/state.ts";

/** A source of changes in memory, which can lose old deltas and fail, as a store can. */
export interface TestSource extends FeedSource {
  readonly state: Snapshot;
  position(): Position;
  commit(ops: readonly Op[]): number;
  /** As a database does that is restored: back to these entries at `rev`, and another history. */
  restore(rev: number, ops: readonly Op[]): void;
  /** Forgets the deltas up to `rev`. */
  trim(rev: number): void;
  /** The next calls fail. */
  fail(calls: number): void;
}

const KINDS = ["zone", "serial", "record", "ruleset", "certificate", "gateway", "token"] as const;

/** Every entry of a snapshot as an op that puts it, and one record per staged change, in a fixed order. */
export const dump = (snapshot: Snapshot): readonly Op[] => [
  ...KINDS.flatMap((kind) => Array.from(snapshot.entries(kind), ([id, value]) => ({ kind, id, value }) as Op).toSorted(byId)),
  ...Array.from(snapshot.staged())
    .flatMap(({ id: import_id, zone_id, changes }) =>
      Array.from(changes, ([id, value]): Op => {
        const { zone_id: _, ...record } = value ?? { zone_id };
        const what = value ? { records: [{ id, ...record } as StagedRecord] } : { records: [], removed: [id] };
        return { kind: "staged", id: `${import_id}/${id}`, value: { import_id, zone_id, ...what } };
      }),
    )
    .toSorted(byId),
];

const byId = (a: Op, b: Op): number => (a.id < b.id ? -1 : 1);

export function createTestSource({ batch = 3 } = {}): TestSource {
  const state = createSnapshotState();
  const listeners = new Set<() => void>();
  let deltas: Delta[] = [];
  let histories = 1;
  const at = (): Position => ({ history: `history ${histories}`, rev: state.rev });
  let failures = 0;
  const mayFail = async (): Promise<void> => {
    // Real sources answer in a later tick.
    await new Promise(setImmediate);
    if (failures > 0) {
      failures--;
      throw new Error("the source failed, as the test wants");
    }
  };
  /** An answer is outdated when it arrives, because others have committed meanwhile. */
  const late = async <T>(answer: T): Promise<T> => {
    await new Promise(setImmediate);
    return answer;
  };
  return {
    state,
    position: at,
    commit: (ops) => {
      const from = state.rev;
      deltas.push({ from, rev: from + 1, ops });
      state.apply(from + 1, ops);
      for (const listener of listeners) listener();
      return from + 1;
    },
    restore: (rev, ops) => {
      histories++;
      deltas = deltas.filter((delta) => delta.rev <= rev);
      state.replace(rev, ops);
      for (const listener of listeners) listener();
    },
    trim: (rev) => {
      deltas = deltas.filter((delta) => delta.rev > rev);
    },
    fail: (calls) => {
      failures = calls;
    },
    full: async () => {
      await mayFail();
      return late({ ...at(), ops: dump(state) });
    },
    stream: async (use) => {
      await mayFail();
      const { ops, ...place } = await late({ ...at(), ops: dump(state) });
      return use(place, [ops.slice(0, 3), ops.slice(3)]);
    },
    since: async ({ history, rev }) => {
      await mayFail();
      if (history !== at().history) return late(null);
      if (rev === state.rev) return late([]);
      const after = deltas.filter((delta) => delta.rev > rev).slice(0, batch);
      return late(after[0]?.from === rev ? after : null);
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The two ends of a feed in one thread. */
export function feedPair(): { readonly publisherEnd: FeedPort; readonly replicaEnd: FeedPort } {
  const { port1, port2 } = new MessageChannel();
  return { publisherEnd: createMessagePortFeed(port1), replicaEnd: createMessagePortFeed(port2) };
}

/** The complete result of readLastGood. */
export async function readCopy(path: string, log: FeedLog, kinds?: readonly EntryKind[]): Promise<FullCopy | null> {
  const ops: Op[] = [];
  const at = await readLastGood(path, log, (op) => ops.push(op), kinds);
  return at === null ? null : { ...at, ops };
}
