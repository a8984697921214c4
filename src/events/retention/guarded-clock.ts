export interface SteadyTimeDeps {
  nowMs(): number;
  monotonicMs(): number;
  /** When something was last written, by the clock of then; undefined where nothing was. */
  readonly writtenMs: number | undefined;
  /** The clock has jumped ahead by so much, and is not believed yet. */
  jumped(aheadMs: number): void;
}

/** What is no jump: clocks are set by a little all the time. */
const SLACK_MS = 3_600_000;
/** After so long a clock that has jumped is believed: machines do sleep, or were switched off. */
const BELIEVED_MS = 86_400_000;

/**
 * The time for deleting what is old. A clock that is set a year ahead by a slip of the hand, or that was never set since the start, makes everything
 * old at once; what it deletes is gone when it comes back. So a jump ahead counts once it has lasted for a day. One that goes back
 * is followed: less is old then.
 */
export function createSteadyTime({ nowMs, monotonicMs, writtenMs, jumped }: SteadyTimeDeps): () => number {
  let base = { atMs: writtenMs ?? nowMs(), monotonicMs: monotonicMs() };
  let jumpedMs: number | null = null;
  return () => {
    const [now, monotonic] = [nowMs(), monotonicMs()];
    const expected = base.atMs + monotonic - base.monotonicMs;
    const isAhead = now > expected + SLACK_MS;
    if (isAhead && jumpedMs === null) {
      jumpedMs = monotonic;
      jumped(now - expected);
    }
    if (isAhead && monotonic - jumpedMs! < BELIEVED_MS) return expected;
    jumpedMs = null;
    base = { atMs: now, monotonicMs: monotonic };
    return now;
  };
}
