export interface SteadyTimeDeps {
  nowMs(): number;
  monotonicMs(): number;
  /** Time of the last write, by the clock at that time; undefined if nothing was written. */
  readonly writtenMs: number | undefined;
  /** The clock has jumped ahead by this much and is not trusted yet. */
  jumped(aheadMs: number): void;
}

/** Smaller changes are not jumps: clocks are often adjusted slightly. */
const SLACK_MS = 3_600_000;
/** After this time a clock that has jumped is trusted: the machine may have slept or been switched off. */
const BELIEVED_MS = 86_400_000;

/**
 * The time for deleting old data. A clock that is a year ahead by mistake, or was not set since the start, makes all data
 * old at once, and deleted data does not come back. Therefore a jump ahead counts only after it has lasted for a day. A
 * clock that goes back is followed: then less is old.
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
