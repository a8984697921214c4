/** Looks for work from time to time while there is some, and sleeps otherwise: who brings the work need not wake anybody. */
export interface Poller {
  /** There is work, or much of it: its next look is at once. */
  wake(): void;
  /** What held up the work that is there is over: its next look need not wait for its time. */
  hurry(): void;
  stop(): void;
}

export interface PollerDeps {
  /** Until the next look after one that found little, and after one that found much. */
  readonly pollMs: number;
  readonly busyPollMs: number;
  /** Does some of the work that is there. */
  poll(): Found;
  /** Nothing has come for a while: true where somebody will call `wake`. */
  sleep(): boolean;
}

export type Found = "nothing" | "little" | "much";

/** Turns without work before it sleeps. */
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
