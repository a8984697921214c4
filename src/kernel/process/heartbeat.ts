import { systemClock } from "#kernel/clock.ts";

/** What threads begin, as far as it can hold them up. Zones, rulesets, gateways, routes and the like are the item. */
const STAGES = [
  "nothing",
  "api call",
  "job",
  "change of the snapshot",
  "request",
  "rules",
  "chat",
  "log of a chat",
  "body to scan",
  "rows",
] as const;

export const [API_CALL, JOB, FEED, REQUEST, RULES, CHAT, CHAT_LOG, SCAN, ROWS] = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

const BEAT_EVERY_MS = 500;
const ITEM_BYTES_MAX = 64;
/** Places of the numbers; the item's text is behind them. */
const [BEATS, STAGE, LENGTH, CPU_MS, NUMBERS] = [0, 1, 2, 3, 4] as const;

/** Of this thread. Shared, so that another one can tell that it takes no turns, and at what. */
const memory = new SharedArrayBuffer(NUMBERS * 4 + ITEM_BYTES_MAX);
const numbers = new Int32Array(memory, 0, NUMBERS);
const text = new Uint8Array(memory, NUMBERS * 4);
let last = "";

/** Something begins that may take long; it is what the thread is at until something else does. Costs nothing where that is the same again. */
export function begins(stage: number, item: string): void {
  numbers[STAGE] = stage;
  if (item === last) return;
  last = item;
  const length = Math.min(item.length, ITEM_BYTES_MAX);
  for (let i = 0; i < length; i++) text[i] = item.charCodeAt(i);
  numbers[LENGTH] = length;
}

/** Processor time of this thread so far. */
const cpuMsOf = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Beats from now on, and gives what to look at. `onBeat` is told how much later than it should one came, and what of the processor the time took. */
export function startHeartbeat(onBeat?: (lateMs: number, cpuMs: number) => void): SharedArrayBuffer {
  let dueMs = systemClock.monotonicMs() + BEAT_EVERY_MS;
  setInterval(() => {
    const nowMs = systemClock.monotonicMs();
    const cpuMs = cpuMsOf();
    onBeat?.(nowMs - dueMs, cpuMs - (numbers[CPU_MS] as number));
    numbers[CPU_MS] = cpuMs;
    numbers[BEATS]!++;
    dueMs = nowMs + BEAT_EVERY_MS;
  }, BEAT_EVERY_MS).unref();
  return memory;
}

/** What this thread has begun last. */
export const begunLast = (): string => heartbeatOf(memory).begun;

export interface Heartbeat {
  readonly beats: number;
  /** Processor time that it had taken at its last beat. */
  readonly cpuMs: number;
  /** What it has begun last. */
  readonly begun: string;
}

/** Of the thread that the memory is of. */
export function heartbeatOf(shared: SharedArrayBuffer): Heartbeat {
  const [beats = 0, stage = 0, length = 0, cpuMs = 0] = new Int32Array(shared, 0, NUMBERS);
  // Shared memory is not decoded where it is.
  const item = Buffer.from(new Uint8Array(shared, NUMBERS * 4, Math.min(Math.max(0, length), ITEM_BYTES_MAX))).toString("latin1");
  return { beats, cpuMs, begun: `${STAGES[stage] ?? "nothing"} ${item.replace(/[^\x20-\x7e]/g, "?")}`.trimEnd() };
}
