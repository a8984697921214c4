import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";

/** What Node.js's types leave out. */
type CollectionEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

/** So many full collections of one thread within this time are too many. */
const COLLECTIONS = 10;
const WITHIN_MS = 10_000;
/** How far a heap grows beyond what was left of it, before it is collected anew. */
const GROWTH_PERCENT = 100;

/**
 * From now on, once full collections of the calling thread come one a second or more, lets heaps grow to twice of what
 * is left of them before the next one. V8 chooses the smallest room that costs the thread itself no more than a thirtieth of its time,
 * and leaves out what its workers take for the marking: of a gateway that streams, a third of all CPU time (ADR 0046).
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

/** Holds for all threads. It comes so late because V8's code for Node.js's own modules, which is cached by flags, counts for no other. */
const growHeap = (): void => setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
