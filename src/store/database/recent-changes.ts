import type { ChangeSet } from "./store.ts";
import type { CollectedChange } from "./unit.ts";

/** The newest change sets of one history, without a gap, so that readers of a commit of this process ask no database. */
export interface RecentChanges {
  /** This process committed them, and they are on disk. */
  committed(history: string, sets: readonly CollectedSet[]): void;
  /** Another process may have committed: from now on the database knows more, until it was asked. */
  othersCommitted(): void;
  /** Grows with each commit that this process knows of: an earlier question does not answer a later one. */
  generation(): number;
  /** Call before the database is asked; the returned function takes what it answered, and up to which revision that is all. */
  asking(): (history: string, sets: readonly SizedSet[], newest: number) => void;
  /** At most `limit` sets after `rev`, at least one; null if the database has to be asked. */
  after(history: string, rev: number, limit: number): readonly ChangeSet[] | null;
}

export interface SizedSet extends ChangeSet {
  /** Characters of its values as JSON. */
  readonly chars: number;
}

export interface CollectedSet {
  readonly rev: number;
  readonly changes: readonly CollectedChange[];
}

/** Readers are a few commits apart. */
const SETS_MAX = 512;
/** A piece of a large change has some 500 KB. */
const CHARS_MAX = 2_000_000;

export function createRecentChanges(): RecentChanges {
  let history: string | null = null;
  let kept: SizedSet[] = [];
  let chars = 0;
  /** How often other processes may have committed, and how many of these times are known to be in `kept`. */
  let heard = 0;
  let known = 0;

  let generation = 0;

  const clear = (of: string | null): void => {
    history = of;
    kept = [];
    chars = 0;
  };
  const head = (): number | undefined => kept.at(-1)?.rev;
  const push = (set: SizedSet): void => {
    const newest = head();
    if (newest !== undefined && set.rev <= newest) return;
    // Another process has the revisions in between.
    if (newest !== undefined && set.rev > newest + 1) clear(history);
    kept.push(set);
    chars += set.chars;
    while (kept.length > SETS_MAX || chars > CHARS_MAX) chars -= kept.shift()?.chars ?? chars;
  };

  return {
    generation: () => generation,
    committed: (of, sets) => {
      generation++;
      if (of !== history) clear(of);
      for (const { rev, changes } of sets) {
        const size = changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
        // Readers share the values with each other, as those of the database, and with no unit.
        const parsed = changes.map(({ kind, id, value }) => ({ kind, id, value: value === null ? null : JSON.parse(value) }));
        push({ rev, changes: parsed, chars: size });
      }
    },
    othersCommitted: () => {
      generation++;
      heard++;
    },
    asking: () => {
      const from = heard;
      return (of, sets, newest) => {
        if (of !== history) return;
        for (const set of sets) push(set);
        if (head() === newest) known = Math.max(known, from);
      };
    },
    after: (of, rev, limit) => {
      if (of !== history || known < heard) return null;
      const first = kept[0]?.rev;
      if (first === undefined || rev + 1 < first || rev >= (head() ?? 0)) return null;
      return kept.slice(rev + 1 - first, rev + 1 - first + limit).map(withoutSize);
    },
  };
}

export const withoutSize = ({ rev, changes }: SizedSet): ChangeSet => ({ rev, changes });
