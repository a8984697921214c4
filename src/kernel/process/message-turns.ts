/** Turns of several connections, which share a number of messages for each tick. */
export interface MessageTurns {
  /** Whether one more message may be answered in this tick. */
  take(): boolean;
  /** Runs `work` in a later tick, in order, when messages may be answered again. */
  wait(work: () => void): void;
}

/**
 * One read can contain thousands of messages. Without turns, all other work of the thread would wait until the last of
 * them is handled.
 */
export function createMessageTurns(perTick: number): MessageTurns {
  const waiting: (() => void)[] = [];
  let left = perTick;
  let isPlanned = false;
  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(renew);
  };
  const renew = (): void => {
    isPlanned = false;
    left = perTick;
    while (left > 0) {
      const work = waiting.shift();
      if (work === undefined) break;
      work();
    }
    if (waiting.length > 0) plan();
  };
  return {
    take: () => {
      if (left === 0) return false;
      left -= 1;
      plan();
      return true;
    },
    wait: (work) => {
      waiting.push(work);
      plan();
    },
  };
}
