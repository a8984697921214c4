/** The properties of a replica that waiting for it needs. */
export interface Follower {
  readonly name: string;
  /** The revision that it has applied. */
  acked: number;
  /** Revisions up to `acked` that it still works on: waits for other revisions do not wait for these. */
  pending: readonly number[];
  /** A wait for it timed out, and it is not waited for until it has caught up. */
  late: boolean;
}

/** Callers that wait until a revision has been published and every follower has applied it. */
export interface Settlement {
  /** `isPatient`: it also waits for those that are late. */
  settled(rev: number, timeoutMs: number, isPatient?: boolean): Promise<{ readonly behind: readonly string[] }>;
  /** Must be called after each acknowledgement and publication, and when a follower leaves. */
  check(): void;
  /** Ends all waits. */
  close(): void;
}

interface Waiter {
  readonly rev: number;
  readonly isPatient: boolean;
  readonly timer: NodeJS.Timeout;
  resolve(): void;
}

/** `published`: the revision up to which followers were offered all changes; those that do not exist yet may start because of one. */
export function createSettlement(followers: ReadonlySet<Follower>, published = (): number => Number.POSITIVE_INFINITY): Settlement {
  const waiters = new Set<Waiter>();
  /** A wait for the publication of this revision timed out: until it is published, others do not wait for publication. */
  let overdue: number | null = null;
  const isReached = (rev: number, isPatient: boolean): boolean => {
    if (published() < rev && (isPatient || overdue === null)) return false;
    for (const follower of followers)
      if ((follower.acked < rev && (isPatient || !follower.late)) || follower.pending.includes(rev)) return false;
    return true;
  };
  const behind = (rev: number): readonly Follower[] => Array.from(followers).filter((follower) => follower.acked < rev);
  const names = (rev: number): { readonly behind: readonly string[] } => ({
    behind: Array.from(followers).flatMap(({ name, acked, pending }) => (acked < rev || pending.includes(rev) ? [name] : [])),
  });
  const release = (waiter: Waiter): void => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
    waiter.resolve();
  };
  return {
    settled: async (rev, timeoutMs, isPatient = false) => {
      if (isReached(rev, isPatient)) return names(rev);
      return new Promise((done) => {
        const timer = setTimeout(() => {
          for (const follower of behind(rev)) follower.late = true;
          if (published() < rev) overdue = Math.max(rev, overdue ?? rev);
          release(waiter);
        }, timeoutMs);
        const waiter: Waiter = { rev, isPatient, timer, resolve: () => done(names(rev)) };
        waiters.add(waiter);
      });
    },
    check: () => {
      if (overdue !== null && published() >= overdue) overdue = null;
      for (const waiter of waiters) if (isReached(waiter.rev, waiter.isPatient)) release(waiter);
    },
    close: () => {
      for (const waiter of waiters) release(waiter);
    },
  };
}
