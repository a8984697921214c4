import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import { runTool } from "./program.ts";
import { addressReader, addressSwitch, timeToSee } from "./propagation.ts";
import { quantile } from "./statistics.ts";

const RECORDS = 100_000;
const ZONE = "loaded.example";
const PACE = 5_000;
/** Ports that the kernel spreads over the workers, each of which must have the acknowledged state. */
const READERS = 8;
/** As many as its addresses tell apart. */
const STATES = 65_536;

/**
 * Changes of one record of a large zone, one after the other, while others ask for it and its neighbours. Throws when an
 * answer after an acknowledgement is not the one that was acknowledged.
 */
export const propagationDnsLoaded: Benchmark = {
  name: "propagation-dns-100k",
  unit: `ms from an API write to its first visible answer, p50, in a zone of ${RECORDS} records at ${PACE} questions a second`,
  better: "lower",
  target: 5,
  tools: ["dnsperf"],
  prepare: async ({ seconds, directory }) => {
    const server = await startBenchServer(["--dns-import-bytes-max", String(64 * 1024 * 1024)]);
    const zoneId = await server.createZone(ZONE);
    await fill(server, zoneId);
    const observed = await addressSwitch(server, ZONE, zoneId);
    const port = Number(server.selvedge.ready.dns.split(":")[1]);
    const readers = await Promise.all(Array.from({ length: READERS }, () => addressReader(port, `www.${ZONE}`)));
    const questions = join(directory, "questions");
    await writeFile(questions, Array.from({ length: RECORDS }, (_, i) => `${i % 2 === 0 ? "www" : `h${i}`}.${ZONE} A\n`).join(""));
    const flags = ["-s", "127.0.0.1", "-p", String(port), "-d", questions, "-l", String(seconds), "-c", "8", "-T", "1"];

    let state = 0;
    const assertFresh = async (): Promise<void> => {
      const answers = await Promise.all(readers.map((reader) => reader.read()));
      if (answers.some((answer) => answer !== state)) throw new Error(`stale: ${answers.join()} after ${state} was acknowledged`);
    };
    const run = async (): Promise<Measurement> => {
      const delays: number[] = [];
      let isLoaded = true;
      const load = runTool("dnsperf", [...flags, "-Q", String(PACE)]).finally(() => (isLoaded = false));
      // Its result is reported below.
      load.catch(() => {});
      while (isLoaded) {
        state = (state + 1) % STATES;
        delays.push(await timeToSee(observed, state));
        await assertFresh();
      }
      const report = await load;
      const figure = (pattern: RegExp): number => Number(pattern.exec(report)?.[1] ?? Number.NaN);
      return {
        value: quantile(delays, 0.5),
        also: {
          p99_ms: quantile(delays, 0.99),
          writes: delays.length,
          answers_after_acknowledgement: delays.length * READERS,
          answers_per_second: figure(/Queries per second:\s+([\d.]+)/),
          lost: figure(/Queries lost:\s+(\d+)/),
        },
      };
    };
    return {
      ours: { name: "selvedge", run },
      close: async () => {
        for (const { close } of [observed, ...readers]) close?.();
        await server.selvedge.stop();
      },
    };
  },
};

async function fill({ selvedge }: BenchServer, zoneId: string): Promise<void> {
  const lines = Array.from({ length: RECORDS }, (_, i) => `h${i} A 10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}\n`);
  const form = new FormData();
  form.set("file", new Blob([`$TTL 300\n${lines.join("")}`]), "zone.txt");
  const headers = { authorization: `Bearer ${selvedge.ready.token ?? ""}` };
  const answer = await fetch(`${selvedge.ready.api}/zones/${zoneId}/dns_records/import`, { method: "POST", headers, body: form });
  const { result } = (await answer.json()) as { result: { recs_added: number } | null };
  if (result?.recs_added !== RECORDS) throw new Error(`HTTP ${answer.status}: ${result?.recs_added} records were added`);
}
