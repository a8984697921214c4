import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";

/** Missing in Node.js's types. */
type CollectionEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

/** Number of full collections of one thread within the time that is too many. */
const COLLECTIONS = 10;
const WITHIN_MS = 10_000;
/** How far a heap grows over its live size before the next collection. */
const GROWTH_PERCENT = 100;

/**
 * Once the calling thread has one full collection per second or more, lets heaps grow to twice their live size before
 * the next one. V8's default limits the cost for the thread itself, but not that of its marking threads: a third of all
 * CPU time for a gateway that streams (ADR 0046).
 */
export function growHeapWhenCollectedOften({ withinMs = WITHIN_MS, grow = growHeap } = {}): void {
  const startsMs: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, detail } of list.getEntries() as CollectionEntry[]) {
      if (detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
      startsMs.push(startTime);
      if (startsMs.length > COLLECTIONS) startsMs.shift();
      if (startsMs.length < COLLECTIONS || startTime - (startsMs[0] ?? 0) > withinMs) continue;
      observer.disconnect();
      return grow();
    }
  });
  observer.observe({ entryTypes: ["gc"] });
}

/** Affects all threads. Set late, because V8 discards the cached code of Node.js's own modules when flags differ. */
const growHeap = (): void => setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
