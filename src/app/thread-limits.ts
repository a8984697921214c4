import type { ResourceLimits } from "node:worker_threads";

/**
 * The most that V8 sets aside for what is new on a thread's heap, in megabytes by the thread's name: left to itself it
 * takes up to 100 for a busy thread, whatever lives in them. A gateway spends as much time on collections with 24.
 * Nameservers and edges keep V8's choice, for their tails of latency.
 */
const YOUNG_MEGABYTES: Readonly<Record<string, number>> = { gateway: 24, events: 8, detector: 8 };

/** What a thread is started with, by its name. */
export function threadLimits(name: string): ResourceLimits {
  const young = YOUNG_MEGABYTES[name];
  return young === undefined ? {} : { maxYoungGenerationSizeMb: young };
}
