import type { ResourceLimits } from "node:worker_threads";

/**
 * The most that V8 sets aside for what is new on a thread's heap, in megabytes by what the thread is: left to itself it
 * takes 100 and more for a thread that is always a little busy, whatever lives in them. A gateway spends as much time on
 * collections with 24, and an edge with 12; it has more, for many visitors at once. Nameservers keep V8's choice, for
 * their tails of latency.
 */
const YOUNG_MEGABYTES: Readonly<Record<string, number>> = { edge: 48, gateway: 24, events: 8, detector: 8, logpush: 8 };

/** What a thread is started with, by its name, such as "gateway" or "edge-1". */
export function threadLimits(name: string): ResourceLimits {
  const young = YOUNG_MEGABYTES[name.replace(/-\d+$/, "")];
  return young === undefined ? {} : { maxYoungGenerationSizeMb: young };
}
