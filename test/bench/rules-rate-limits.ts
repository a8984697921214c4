import { createCounterMemory, createCounterTable } from "#rules/rate-limit/counter-table.ts";
import type { Benchmark, Contender } from "./benchmark.ts";

const KEYS = 1_000_000;
const WINDOW = { periodMs: 60_000, technique: "sliding" } as const;
const T0 = 1_700_000_000_000;

/** A key as an engine builds it from a rule and an address. Each is a new string, like keys of requests. */
const keyOf = (n: number): string => `0123456789abcdef0123456789abcdef\0${10 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.7`;

/** Counts under a million keys in memory that threads share, beside a Map of one thread, which grows with its keys. */
export const rulesRateLimits: Benchmark = {
  name: "rules-rate-limits",
  unit: `µs of CPU for a count among ${KEYS} keys`,
  better: "lower",
  tools: [],
  prepare: () => {
    const memory = createCounterMemory(KEYS, T0);
    const table = createCounterTable(memory, () => T0);
    const map = new Map<string, { started: number; count: number; before: number }>();
    const ours = contender(
      "selvedge",
      (key, nowMs) => table.add(key, 1, WINDOW, nowMs),
      () => memory.byteLength,
    );
    const before = process.memoryUsage().heapUsed;
    const peer = contender(
      "map",
      (key, nowMs) => {
        const known = map.get(key);
        if (known === undefined) return void map.set(key, { started: nowMs, count: 1, before: 0 });
        if (nowMs - known.started >= WINDOW.periodMs) Object.assign(known, { started: nowMs, before: known.count, count: 0 });
        known.count++;
      },
      () => process.memoryUsage().heapUsed - before,
    );
    return Promise.resolve({ ours, peers: [peer], close: () => Promise.resolve(map.clear()) });
  },
};

function contender(name: string, count: (key: string, nowMs: number) => unknown, memoryBytes: () => number): Contender {
  let next = 0;
  return {
    name,
    run: () => {
      const before = process.cpuUsage();
      // Every key comes once in each round, in an order that defeats CPU caches.
      for (let n = 0; n < KEYS; n++) count(keyOf((next = (next + 611_953) % KEYS)), T0 + n / 100);
      const { user, system } = process.cpuUsage(before);
      const bytes = memoryBytes();
      return Promise.resolve({
        value: (user + system) / KEYS,
        also: { memory_mb: Math.round(bytes / 2 ** 20), bytes_per_key: Math.round(bytes / KEYS) },
      });
    },
  };
}
