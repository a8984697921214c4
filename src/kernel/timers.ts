import type { Clock } from "#kernel/clock.ts";

/** Something with deadlines. */
export interface Checked {
  /** `nowMs` on the monotonic scale. Closes itself where it waited too long. */
  check(nowMs: number): void;
}

/** One timer for every connection of a thread: a timer each would be rearmed with each read. */
export interface Timers {
  /** The time of the next check, which costs nothing to know: what begins now and is measured from it never ends too early. */
  readonly nowMs: number;
  add(checked: Checked): void;
  remove(checked: Checked): void;
  close(): void;
}

/**
 * Everything is checked twice a second, a piece at a time: some thousand connections at once, slow attackers' among
 * them, would keep all others waiting for milliseconds.
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
    add: (checked) => void all.add(checked),
    remove: (checked) => void all.delete(checked),
    close: () => clearInterval(interval),
  };
}

/** Whether something that should move does: at least so many bytes in every window. */
export class ProgressMeter {
  private sinceMs = 0;
  private bytes = 0;
  private running = false;

  /** Called at each check with a running total; false when too little moved in the last window. */
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

  /** Nothing is expected to move for now. */
  stop(): void {
    this.running = false;
  }

  private restart(total: number, nowMs: number): void {
    this.running = true;
    this.sinceMs = nowMs;
    this.bytes = total;
  }
}
