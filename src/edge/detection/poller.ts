/** Looks for work from time to time while there is some, and sleeps otherwise: who brings the work need not wake anybody. */
export interface Poller {
  /** There is work. */
  wake(): void;
  /** What held up the work that is there is over: its next look need not wait for its time. */
  hurry(): void;
  stop(): void;
}

export interface PollerDeps {
  readonly pollMs: number;
  /** Does some of the work that is there; whether there was any. */
  poll(): boolean;
  /** Nothing has come for a while: true where somebody will call `wake`. */
  sleep(): boolean;
}

/** Turns without work before it sleeps. */
const IDLE_TURNS = 50;

export function createPoller({ pollMs, poll, sleep }: PollerDeps): Poller {
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let idleTurns = 0;

  const turn = (): void => {
    timer = null;
    if (isStopped) return;
    idleTurns = poll() ? 0 : idleTurns + 1;
    if (idleTurns < IDLE_TURNS || !sleep()) timer = setTimeout(turn, pollMs);
  };

  return {
    wake: () => {
      idleTurns = 0;
      if (timer === null) turn();
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
