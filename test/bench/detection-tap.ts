import { execFile } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { MessageChannel, Worker } from "node:worker_threads";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createBodyTee, type BodyTee } from "#edge/detection/body-tee.ts";
import { testSubject } from "#edge/testing/subject.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { allCpus, freePort, otherCpus, startScript } from "./program.ts";
import { type Block, differenceOfBlocks, median } from "./statistics.ts";
import { PageVisitor, startPageOrigin, threadMicroseconds } from "./tap-load.ts";

const execute = promisify(execFile);
const MEGABYTE = 1_000_000;
const PAGE = Buffer.alloc(MEGABYTE, "The edge of a cloth that finishes itself is called a selvedge. ");
/** Chunk that the edge reads from an origin at once. */
const CHUNK = PAGE.subarray(0, 64 * 1024);
const SMALL_BYTES = 1024;
const SMALL_PAGES = 64;
const MEGABYTES_PER_SECOND = 100;
const PERIOD_MS = 1000 / MEGABYTES_PER_SECOND;
const [SCANNED, OTHER] = ["www.site.example", "www.other-site.example"];
/** Pages of one zone before the other zone's round. All pages count, because the first one does not cost measurably more. */
const IN_A_ROW = 2;

/**
 * Cost of detection for the thread that answers requests: all of it, including its effect on the caches, because memory
 * that moves back and forth between two processors slows down other work. An edge passes pages of 1 MB from an origin to
 * a visitor, over sockets, in rows for a scanned zone and for one that is not; the value is the difference of its
 * thread's CPU time for a page of the one and of the other, as the scheduler counts it, in two consecutive rows.
 * `copied_us` is the path of connections outside of our own loop, by the clock: a MB passed to the tap in chunks of 64
 * KB, which copies it; `page_of_1kb_us` is the same for a small page. The latter two have no sockets, and therefore no
 * other work between their chunks.
 */
export const detectionTap: Benchmark = {
  name: "detection-tap",
  unit: "µs of the edge's thread for a MB that is scanned",
  better: "lower",
  target: 100,
  tools: [],
  rounds: 13,
  prepare: async ({ seconds }) => {
    const edge = await startScannedEdge();
    const tap = await startTap();
    const all: Block[] = [];
    let round = 0;
    const run = async (): Promise<Measurement> => {
      const blocks = await edge.measure(seconds);
      // The first round warms up.
      if (++round > 1) all.push(...blocks);
      const copies = await tap.measure(seconds / 4);
      return {
        value: differenceOfBlocks(blocks).middle,
        also: { proxied_us: median(blocks.flatMap(({ others }) => others)), ...copies },
      };
    };
    const conclude = (): readonly string[] => {
      const { middle, low, high } = differenceOfBlocks(all);
      const interval = `95 % of draws from ${low.toFixed(0)} to ${high.toFixed(0)}`;
      return [`later rounds    ${middle.toFixed(0)} µs a MB in ${all.length} blocks of two rows of pages, ${interval}`];
    };
    const close = async (): Promise<void> => {
      await edge.close();
      await tap.close();
    };
    return { ours: { name: "selvedge", run }, conclude, close };
  },
};

async function startScannedEdge() {
  const [port, originPort] = [await freePort(), await freePort()];
  const origin = await startPageOrigin(originPort, PAGE);
  const args = [String(port), String(await freePort()), SCANNED, SCANNED.slice(4), String(originPort), "detection"];
  const probe = (): Promise<unknown> => fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(500) });
  const engine = await startScript("edge-engine.ts", args, probe);
  // The detector and all else have the other CPUs, with origin and visitor, who are this process.
  await execute("taskset", ["--all-tasks", "--cpu-list", "--pid", otherCpus(), String(engine.pid)]);
  await execute("taskset", ["--cpu-list", "--pid", "0", String(engine.pid)]);
  const pinUs = (cpuList: string): Promise<unknown> =>
    execute("taskset", ["--all-tasks", "--cpu-list", "--pid", cpuList, String(process.pid)]);
  const visitor = new PageVisitor(port, PAGE.length);
  const visit = async (host: string): Promise<number> => {
    const [before, started] = [threadMicroseconds(engine.pid), performance.now()];
    await visitor.get(host);
    // The detector has a fixed period, to which pages would otherwise be synchronized.
    await delay(Math.max(1, PERIOD_MS * (0.5 + Math.random()) - (performance.now() - started)));
    return threadMicroseconds(engine.pid) - before;
  };
  const row = async (host: string): Promise<readonly number[]> => {
    const costs: number[] = [];
    for (let page = 0; page < IN_A_ROW; page++) costs.push(await visit(host));
    return costs;
  };
  return {
    measure: async (seconds: number): Promise<readonly Block[]> => {
      const blocks: Block[] = [];
      await pinUs(otherCpus());
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end || blocks.length === 0) {
        // The order of the two is random, so that neither always meets the other's effects.
        const isScannedFirst = Math.random() < 0.5;
        const first = await row(isScannedFirst ? SCANNED : OTHER);
        const second = await row(isScannedFirst ? OTHER : SCANNED);
        blocks.push(isScannedFirst ? { ours: first, others: second } : { ours: second, others: first });
      }
      await pinUs(allCpus());
      return blocks;
    },
    close: async () => {
      visitor.close();
      await engine.stop();
      origin.close();
    },
  };
}

async function startTap() {
  const worker = new Worker(new URL("detection-tap-reader.ts", import.meta.url));
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port2, [port2]);
  await once(worker, "message");
  const metrics = createMetrics();
  const tap = createBodyTee({ port: port1, metrics });
  const shed = (): number => metrics.samples().find(({ name }) => name === "selvedge_detection_shed_total")?.value ?? 0;
  const measure = async (seconds: number): Promise<Readonly<Record<string, number>>> => {
    const [large, small]: [number[], number[]] = [[], []];
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end || large.length === 0) {
      const before = shed();
      const one = microseconds(() => copy(tap, MEGABYTE));
      const pages = microseconds(() => {
        for (let page = 0; page < SMALL_PAGES; page++) copy(tap, SMALL_BYTES);
      });
      // Parts for which the detector was too far behind were not copied.
      if (shed() === before) {
        large.push(one);
        small.push(pages / SMALL_PAGES);
      }
      await delay(PERIOD_MS);
    }
    return { copied_us: median(large), page_of_1kb_us: median(small) };
  };
  const close = async (): Promise<void> => {
    tap.close();
    await worker.terminate();
  };
  return { measure, close };
}

const scope = testSubject();

function copy(tap: BodyTee, bytes: number): void {
  const subject = testSubject({ at_ms: Date.now() });
  const body = tap.begin(scope, subject, subject);
  let left = bytes;
  for (; left > CHUNK.length; left -= CHUNK.length) body?.chunk(CHUNK, 0, CHUNK.length);
  body?.last(CHUNK, 0, left);
}

/** By the clock, of which medians are taken. */
function microseconds(work: () => void): number {
  const started = performance.now();
  work();
  return (performance.now() - started) * 1000;
}
