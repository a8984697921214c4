/** Looks for work at intervals while there is some, and sleeps otherwise, so that the other side seldom has to wake it. */
export interface Poller {
  /** There is work, or much of it: looks at once. */
  wake(): void;
  /** Looks soon, because the obstacle to the waiting work is gone. */
  hurry(): void;
  stop(): void;
}

export interface PollerDeps {
  /** Interval after a look that found little, and after one that found much. */
  readonly pollMs: number;
  readonly busyPollMs: number;
  /** Does some of the work. */
  poll(): PollResult;
  /** No work has come for a while. Returns true if `wake` will be called for the next. */
  sleep(): boolean;
}

export type PollResult = "nothing" | "little" | "much";

/** Looks without work before it sleeps. */
const IDLE_TURNS = 12;

export function createPoller({ pollMs, busyPollMs, poll, sleep }: PollerDeps): Poller {
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let idleTurns = 0;

  const turn = (): void => {
    timer = null;
    if (isStopped) return;
    const found = poll();
    idleTurns = found === "nothing" ? idleTurns + 1 : 0;
    if (idleTurns < IDLE_TURNS || !sleep()) timer = setTimeout(turn, found === "much" ? busyPollMs : pollMs);
  };

  return {
    wake: () => {
      idleTurns = 0;
      if (timer !== null) clearTimeout(timer);
      turn();
    },
    hurry: () => {
      if (timer === null) return;
      clearTimeout(timer);
      timer = setTimeout(turn, 0);
    },
    stop: () => {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
