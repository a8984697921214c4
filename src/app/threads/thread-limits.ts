import type { ResourceLimits } from "node:worker_threads";

/**
 * The most that V8 sets aside for what is new on a thread's heap, in megabytes by what the thread is: left to itself it
 * takes 100 and more for a thread that is always a little busy, whatever lives in them. A gateway spends as much time on
 * collections with 24, and an edge with 12; it has more, for many visitors at once. Nameservers keep V8's choice, for
 * their tails of latency.
 */
const YOUNG_MEGABYTES: Readonly<Record<string, number>> = { edge: 48, gateway: 24, events: 8, detector: 8, logpush: 8 };

/**
 * The most that lives on a thread's heap: beyond it the thread is ended and started again, and not the whole process. Detectors of
 * 128 policies, each 1.5, and the policies of all zones are a small part of it.
 */
const OLD_MEGABYTES: Readonly<Record<string, number>> = { detector: 1024 };

/** What a thread is started with, by its name, such as "gateway" or "edge-1". */
export function threadLimits(name: string): ResourceLimits {
  const kind = name.replace(/-\d+$/, "");
  const [young, old] = [YOUNG_MEGABYTES[kind], OLD_MEGABYTES[kind]];
  return {
    ...(young === undefined ? {} : { maxYoungGenerationSizeMb: young }),
    ...(old === undefined ? {} : { maxOldGenerationSizeMb: old }),
  };
}
