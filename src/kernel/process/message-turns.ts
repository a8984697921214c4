/** Turns of several connections, which share a number of messages, or of bytes, for each tick. */
export interface MessageTurns {
  /** Whether one more message may be answered in this tick. */
  take(): boolean;
  /** Whether some of this tick's number is left. */
  isLeft(): boolean;
  /** Takes as much as the work of a turn needed. What exceeds this tick's number is missing in later ones. */
  spend(amount: number): void;
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
    left = Math.min(perTick, left + perTick);
    while (left > 0) {
      const work = waiting.shift();
      if (work === undefined) break;
      work();
    }
    if (waiting.length > 0) plan();
  };
  const spend = (amount: number): void => {
    left -= amount;
    plan();
  };
  const isLeft = (): boolean => left > 0;
  return {
    take: () => {
      if (!isLeft()) return false;
      spend(1);
      return true;
    },
    isLeft,
    spend,
    wait: (work) => {
      waiting.push(work);
      plan();
    },
  };
}
