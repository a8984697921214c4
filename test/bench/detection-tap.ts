import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";
import { createMetrics } from "#kernel/metrics.ts";
import { createTap } from "#edge/detection/tap.ts";
import { testSubject } from "#edge/detection/test-subject.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { median } from "./statistics.ts";

const MEGABYTE = 1_000_000;
/** What the edge reads from an origin at once. */
const CHUNK = Buffer.alloc(64 * 1024, "The edge of a cloth that finishes itself is called a selvedge. ");
const PAGE_BYTES = 1024;
const PAGES = 64;
const MEGABYTES_PER_SECOND = 100;

/** What detection costs the thread that answers requests: everything else happens in the detector's. */
export const detectionTap: Benchmark = {
  name: "detection-tap",
  unit: "µs of the edge's thread for a MB that is copied for the detector",
  better: "lower",
  target: 100,
  tools: [],
  prepare: async ({ seconds }) => {
    const worker = new Worker(new URL("detection-tap-reader.ts", import.meta.url));
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(port2, [port2]);
    await once(worker, "message");
    const metrics = createMetrics();
    const tap = createTap({ port: port1, metrics });
    const scope = testSubject();
    const send = (bytes: number): void => {
      const subject = testSubject({ at_ms: Date.now() });
      const body = tap.begin(scope, subject, subject);
      let left = bytes;
      for (; left > CHUNK.length; left -= CHUNK.length) body?.chunk(CHUNK, 0, CHUNK.length);
      body?.last(CHUNK, 0, left);
    };
    const shed = (): number => metrics.samples().find(({ name }) => name === "selvedge_detection_shed_total")?.value ?? 0;
    const run = async (): Promise<Measurement> => {
      const large: number[] = [];
      const small: number[] = [];
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end || large.length === 0) {
        const before = shed();
        const one = microseconds(() => send(MEGABYTE));
        const pages = microseconds(() => {
          for (let page = 0; page < PAGES; page++) send(PAGE_BYTES);
        });
        // What the detector was too far behind for was not copied.
        if (shed() === before) {
          large.push(one);
          small.push(pages / PAGES);
        }
        await new Promise((resolve) => setTimeout(resolve, 1000 / MEGABYTES_PER_SECOND));
      }
      return { value: median(large), also: { page_of_1kb_us: median(small) } };
    };
    const close = async (): Promise<void> => {
      tap.close();
      await worker.terminate();
    };
    return { ours: { name: "selvedge", run }, close };
  },
};

/**
 * By the clock, of which medians are taken: where the system counts CPU time by sampling, work this short that begins with a
 * timer is hardly seen.
 */
function microseconds(work: () => void): number {
  const started = performance.now();
  work();
  return (performance.now() - started) * 1000;
}
