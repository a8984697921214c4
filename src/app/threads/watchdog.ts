/** A thread that is checked regularly for a blocked event loop. */
export interface Watched {
  /** Whether it answers within the time. */
  answers(withinMs: number): Promise<boolean>;
  /** CPU time since its start, in milliseconds; rejects if it has ended. */
  cpuMs(): Promise<number>;
  /** Called once, with the time without an answer: the thread must be ended. It is not checked afterwards. */
  onSilent(silentMs: number): void;
}

export interface WatchLimits {
  /** Interval of the checks, and the time limit of each answer. */
  readonly everyMs: number;
  /** CPU time that it may use without answering: on a busy machine it may have to wait for the CPU. */
  readonly cpuMs: number;
  /** Limit of the time without an answer, regardless of CPU time. */
  readonly silentMs: number;
}

/** Longer than any tick of our threads, which takes under a second. */
export const WATCH_LIMITS: WatchLimits = { everyMs: 5_000, cpuMs: 10_000, silentMs: 120_000 };

/** Watches a thread until it falls silent or the returned function is called. */
export function watchThread({ answers, cpuMs, onSilent }: Watched, limits: WatchLimits = WATCH_LIMITS): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  /** The thread's CPU time when it was first found silent; null while it answers. */
  let before: number | null = null;
  let missed = 0;

  const look = async (): Promise<void> => {
    const hasAnswered = await answers(limits.everyMs);
    if (isOver) return;
    if (hasAnswered) {
      [before, missed] = [null, 0];
      return later(limits.everyMs);
    }
    missed++;
    const taken = await cpuMs();
    before ??= taken;
    const silentMs = missed * limits.everyMs;
    if (isOver) return;
    if (taken - before < limits.cpuMs && silentMs < limits.silentMs) return later(0);
    isOver = true;
    onSilent(silentMs);
  };
  const later = (ms: number): void => {
    // The end of the thread is reported elsewhere.
    timer = setTimeout(() => void look().catch(() => undefined), ms).unref();
  };
  later(limits.everyMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
