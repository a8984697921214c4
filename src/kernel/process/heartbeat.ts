import { systemClock } from "#kernel/clock.ts";

/** Activities of a thread that may take long. The item is a zone, ruleset, gateway, route or the like. */
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
/** Indexes of the numbers; the item's text follows them. */
const [BEATS, STAGE, LENGTH, CPU_MS, NUMBERS] = [0, 1, 2, 3, 4] as const;

/** Heartbeat of this thread. Shared, so that another thread can detect that it is unresponsive, and in which activity. */
const memory = new SharedArrayBuffer(NUMBERS * 4 + ITEM_BYTES_MAX);
const numbers = new Int32Array(memory, 0, NUMBERS);
const text = new Uint8Array(memory, NUMBERS * 4);
let last = "";

/** Records the start of an activity that may take long; it counts until the next one. Free if the activity is the same again. */
export function begins(stage: number, item: string): void {
  numbers[STAGE] = stage;
  if (item === last) return;
  last = item;
  const length = Math.min(item.length, ITEM_BYTES_MAX);
  for (let i = 0; i < length; i++) text[i] = item.charCodeAt(i);
  numbers[LENGTH] = length;
}

/** CPU time of this thread so far, in milliseconds. */
const cpuMsOf = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Starts the heartbeat and returns its memory. `onBeat` gets the delay of a beat and the CPU time used since the last one. */
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

/** The last activity that this thread started. */
export const begunLast = (): string => heartbeatOf(memory).begun;

export interface Heartbeat {
  readonly beats: number;
  /** CPU time of the thread at its last beat. */
  readonly cpuMs: number;
  /** The last activity that the thread started. */
  readonly begun: string;
}

/** Reads the heartbeat of another thread from its memory. */
export function heartbeatOf(shared: SharedArrayBuffer): Heartbeat {
  const [beats = 0, stage = 0, length = 0, cpuMs = 0] = new Int32Array(shared, 0, NUMBERS);
  // Copied, because shared memory cannot be decoded directly.
  const item = Buffer.from(new Uint8Array(shared, NUMBERS * 4, Math.min(Math.max(0, length), ITEM_BYTES_MAX))).toString("latin1");
  return { beats, cpuMs, begun: `${STAGES[stage] ?? "nothing"} ${item.replace(/[^\x20-\x7e]/g, "?")}`.trimEnd() };
}
