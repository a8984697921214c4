import { performance } from "node:perf_hooks";

/** A calendar day in UTC. Plain ISO strings sort, compare and print without a library. */
export type IsoDate = `${number}-${number}-${number}`;

/** The source of time. Code that needs the current time gets one of these. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Microseconds since the Unix epoch, for the timestamps the API shows (SPEC 2.2). */
  nowMicros(): number;
  /** Milliseconds on a scale that never steps back; only differences mean anything. */
  monotonicMs(): number;
}

/**
 * The wall clock in microseconds. The system provides only milliseconds, so the fraction comes from the monotonic clock.
 * If the two drift apart, because the system time was changed, it restarts from the wall clock.
 */
export function wallMicros(nowMs: () => number, monotonicMs: () => number): () => number {
  let originMs = nowMs() - monotonicMs();
  return () => {
    const wallMs = nowMs();
    const apartMs = wallMs - (originMs + monotonicMs());
    if (Math.abs(apartMs) > APART_MS_MAX) originMs += apartMs;
    return Math.round((originMs + monotonicMs()) * 1000);
  };
}

/** The wall clock is truncated to milliseconds, so a difference of one is normal. */
const APART_MS_MAX = 2;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowMicros: wallMicros(
    () => Date.now(),
    () => performance.now(),
  ),
  monotonicMs: () => performance.now(),
};

const machineOriginMs = Number(process.hrtime.bigint() / 1_000n) / 1_000 - performance.now();

/** Milliseconds on a scale that never steps and is the same for all threads; only differences mean anything. For state that threads share. */
export const machineMs = (): number => machineOriginMs + performance.now();

/** A clock for tests that moves only on request. */
export interface FixedClock extends Clock {
  advance(ms: number): void;
}

export function fixedClock(start: string | number): FixedClock {
  let ms = typeof start === "number" ? start : Date.parse(start);
  if (Number.isNaN(ms)) throw new RangeError(`not a point in time: ${start}`);
  return {
    nowMs: () => ms,
    nowMicros: () => ms * 1000,
    monotonicMs: () => ms,
    advance: (by) => {
      ms += by;
    },
  };
}

/** A clock that runs at the system's pace with an offset. */
export function offsetClock(base: Clock, offsetMs: number): Clock {
  return {
    nowMs: () => base.nowMs() + offsetMs,
    nowMicros: () => base.nowMicros() + offsetMs * 1000,
    monotonicMs: () => base.monotonicMs(),
  };
}

/** A clock whose offset from another one can change. */
export interface AdjustableClock extends Clock {
  offsetMs(): number;
  setOffset(ms: number): void;
}

export function adjustableClock(base: Clock): AdjustableClock {
  let clock = base;
  let offset = 0;
  return {
    nowMs: () => clock.nowMs(),
    nowMicros: () => clock.nowMicros(),
    monotonicMs: () => base.monotonicMs(),
    offsetMs: () => offset,
    setOffset: (ms) => {
      offset = ms;
      clock = ms === 0 ? base : offsetClock(base, ms);
    },
  };
}

/** The UTC day of a Unix time in milliseconds. */
export const isoDate = (ms: number): IsoDate => new Date(ms).toISOString().slice(0, 10) as IsoDate;

/** `2014-01-01T05:20:00.123456Z`: the API's timestamps carry microseconds (SPEC 2.2). */
export function isoMicros(micros: number): string {
  const ms = Math.floor(micros / 1000);
  const below = String(micros - ms * 1000).padStart(3, "0");
  return `${new Date(ms).toISOString().slice(0, 23)}${below}Z`;
}

/** Parses an existing calendar day; undefined otherwise, for example for `2024-02-30`. */
export function parseIsoDate(text: string): IsoDate | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || isoDate(ms) !== text ? undefined : (text as IsoDate);
}
