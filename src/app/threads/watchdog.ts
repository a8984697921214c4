/** A thread that is asked, time and again, whether it still takes its turns. */
export interface Watched {
  /** Whether it answers within the time. */
  answers(withinMs: number): Promise<boolean>;
  /** Processor time that it has taken since its start, in milliseconds; rejects when it has ended. */
  cpuMs(): Promise<number>;
  /** Called once, with how long there was no answer: it has to be ended. Nothing is asked after it. */
  onSilent(silentMs: number): void;
}

export interface WatchLimits {
  /** How often it is asked, and how long each answer may take. */
  readonly everyMs: number;
  /** Time of a processor that it may take without answering: on a busy machine it may have to wait for it. */
  readonly cpuMs: number;
  /** However little of that it had. */
  readonly silentMs: number;
}

/** No turn of a thread of ours takes a second. */
export const WATCH_LIMITS: WatchLimits = { everyMs: 5_000, cpuMs: 10_000, silentMs: 120_000 };

/** Looks after a thread until it falls silent or the function that is given back is called. */
export function watchThread({ answers, cpuMs, onSilent }: Watched, limits: WatchLimits = WATCH_LIMITS): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  /** Of the thread's time when it was first found silent; null while it answers. */
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
    // Its end is told by others.
    timer = setTimeout(() => void look().catch(() => undefined), ms).unref();
  };
  later(limits.everyMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
