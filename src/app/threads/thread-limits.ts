import type { ResourceLimits } from "node:worker_threads";

/**
 * Limit of the young generation of a thread's heap, in megabytes by kind of thread: by default V8 takes 100 and more for
 * a thread that is always slightly busy, regardless of its live data. A gateway spends the same time on collections with
 * 24, and an edge with 12; it has more, for many concurrent visitors. Of a large change nearly all of a nameserver's new
 * objects survive, and its thread stops while they are copied (ADR 0319).
 */
const YOUNG_MEGABYTES: Readonly<Record<string, number>> = { edge: 48, gateway: 24, nameserver: 12, events: 8, detector: 8, logpush: 8 };

/**
 * Limit of the live data on a thread's heap: above it the thread is ended and restarted, instead of the whole process.
 * Detectors of 128 policies, at 1.5 each, and the policies of all zones are a small part of it.
 */
const OLD_MEGABYTES: Readonly<Record<string, number>> = { detector: 1024 };

/** Resource limits of a thread by its name, such as "gateway" or "edge-1". */
export function threadLimits(name: string): ResourceLimits {
  const kind = name.replace(/-\d+$/, "");
  const [young, old] = [YOUNG_MEGABYTES[kind], OLD_MEGABYTES[kind]];
  return {
    ...(young === undefined ? {} : { maxYoungGenerationSizeMb: young }),
    ...(old === undefined ? {} : { maxOldGenerationSizeMb: old }),
  };
}
