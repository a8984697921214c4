import type { Clock } from "#kernel/clock.ts";

/** An object with deadlines. */
export interface Checked {
  /** `nowMs` is monotonic. Closes itself when it has waited too long. */
  check(nowMs: number): void;
}

/** One timer for all connections of a thread: separate timers would be rearmed with each read. */
export interface Timers {
  /** Monotonic time of the next check, free to read; deadlines measured from it are never too early. */
  readonly nowMs: number;
  /** Monotonic time, from the clock: later than the next check if the thread has waited for a processor or been busy. */
  measureMs(): number;
  add(checked: Checked): void;
  remove(checked: Checked): void;
  close(): void;
}

/**
 * Checks everything twice a second, in parts: some thousand connections at once (possibly of slow attackers) would delay
 * all others by milliseconds.
 */
const PIECE_INTERVAL_MS = 50;
const PIECES = 10;

export function createTimers(clock: Clock): Timers {
  const all = new Set<Checked>();
  let nextMs = clock.monotonicMs() + PIECE_INTERVAL_MS;
  let piece = 0;
  let pieceLength = 0;
  let round = all.values();
  const interval = setInterval(() => {
    const nowMs = clock.monotonicMs();
    nextMs = nowMs + PIECE_INTERVAL_MS;
    if (piece === 0) {
      pieceLength = Math.ceil(all.size / PIECES);
      round = all.values();
    }
    piece = (piece + 1) % PIECES;
    for (let checked = 0; checked < pieceLength; checked++) {
      const { done, value } = round.next();
      if (done === true) return;
      value.check(nowMs);
    }
  }, PIECE_INTERVAL_MS);
  interval.unref();
  return {
    get nowMs() {
      return nextMs;
    },
    measureMs: () => clock.monotonicMs(),
    add: (checked) => void all.add(checked),
    remove: (checked) => void all.delete(checked),
    close: () => clearInterval(interval),
  };
}

/** Whether a transfer makes progress: at least a number of bytes in each window. */
export class ProgressMeter {
  private sinceMs = 0;
  private bytes = 0;
  private running = false;

  /** Call at each check with the running total; returns false if too little moved in the last window. */
  isMoving(total: number, nowMs: number, windowMs: number, bytesMin: number): boolean {
    if (!this.running) {
      this.restart(total, nowMs);
      return true;
    }
    if (nowMs - this.sinceMs < windowMs) return true;
    const moved = total - this.bytes;
    this.restart(total, nowMs);
    return moved >= bytesMin;
  }

  /** Pauses the measurement while progress is not expected. */
  stop(): void {
    this.running = false;
  }

  private restart(total: number, nowMs: number): void {
    this.running = true;
    this.sinceMs = nowMs;
    this.bytes = total;
  }
}
