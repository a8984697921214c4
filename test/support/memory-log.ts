import type { Delta, Op } from "#snapshot/entries.ts";
import type { FeedSource, Position } from "#snapshot/feed.ts";

/** The change log of a database, in memory. */
export interface MemoryLog {
  readonly source: FeedSource;
  at(): Position;
  /** Returns the revision. */
  commit(...ops: readonly Op[]): number;
  /** As after a restore from a backup: other contents and another history. */
  restore(...ops: readonly Op[]): void;
  contents(): string;
}

export function applyTo(entries: Map<string, Op>, ops: readonly Op[]): void {
  for (const op of ops) {
    if (op.value === null) entries.delete(op.id);
    else entries.set(op.id, op);
  }
}

export const entriesText = (entries: ReadonlyMap<string, Op>): string =>
  JSON.stringify([...entries.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)));

const PAGE = 1_000;

export function createMemoryLog(): MemoryLog {
  let history = "a".repeat(32);
  let deltas: Delta[] = [];
  let rev = 0;
  const listeners = new Set<() => void>();
  const entries = new Map<string, Op>();
  function* pages(): Generator<readonly Op[]> {
    const all = [...entries.values()];
    for (let i = 0; i < all.length; i += PAGE) yield all.slice(i, i + PAGE);
  }
  const source: FeedSource = {
    full: async () => ({ history, rev, ops: [...entries.values()] }),
    stream: async (use) => use({ history, rev }, pages()),
    since: async (at) => {
      if (at.history !== history || at.rev > rev) return null;
      if (at.rev === rev) return [];
      const first = deltas.findIndex(({ from }) => from === at.rev);
      return first === -1 ? null : deltas.slice(first);
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    source,
    at: () => ({ history, rev }),
    commit: (...ops) => {
      applyTo(entries, ops);
      deltas.push({ from: rev, rev: ++rev, ops });
      for (const listener of listeners) listener();
      return rev;
    },
    restore: (...ops) => {
      history = "b".repeat(32);
      deltas = [];
      entries.clear();
      applyTo(entries, ops);
    },
    contents: () => entriesText(entries),
  };
}
