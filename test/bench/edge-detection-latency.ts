import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { succeed } from "../support/api.ts";
import { readUntil } from "../support/eventually.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { type EdgeSite, SITE_HOST, startEdgeSite } from "./edge-site.ts";
import type { PacedLatencies, PacedLoad } from "./paced-load.ts";
import { runScript } from "./program.ts";
import { joined, type ManySided, quantile, ratioOfBlocks } from "./statistics.ts";

const execute = promisify(execFile);
const CONNECTIONS = 64;
/** A tenth of the load that one core of an ordinary machine serves. */
const REQUESTS_PER_SECOND = 800;
const PAGE = "The edge of a cloth that finishes itself is called a selvedge, and keeps it from fraying. ".repeat(180).slice(0, 16_000);

/**
 * Zones of one server, requested over the same connections, with names of equal length. Each round scans another one,
 * because one may be slower than the others.
 */
const HOSTS = [SITE_HOST, "www.examined.example", "www.repeated.example"];
const TURN_MS = 200;
/** Remaining data of a period is scanned within this time. */
const SETTLE_MS = 25;
/** Requests of one period for each zone. */
const BLOCKS = 24;
const WARM_UP_BLOCKS = 6;
const ROUNDS = 10;
/** A period has little more than a hundred requests. Six have more, and are more often disturbed by the machine. */
const BLOCKS_FOR_P99 = 6;

/**
 * Latency for visitors at a load that leaves the machine room, with every response of one of three zones scanned and none
 * of the others. The zones take turns so short that the machine's variations affect all, in all orders equally; the ratio
 * of the two others shows what no ratio here can resolve. The goal is the edge's latency: on a machine of two cores that
 * are filled by load, origin and edge, the detector's share of the CPU makes everything slower, wherever it runs.
 * Requests come at random times, the same in each turn of a block and different in each run, and wait if no connection is
 * free; counting begins once the client's clock has reached them, without its timer's own delay.
 */
export const edgeDetectionLatency: Benchmark = {
  name: "edge-detection-latency",
  unit: `µs until a page of 16 KB has come, the 99th of a hundred, at ${REQUESTS_PER_SECOND} requests a second`,
  better: "lower",
  rounds: ROUNDS,
  tools: ["nginx", "openssl"],
  prepare: async ({ directory }) => {
    await writeFile(join(directory, "page"), PAGE);
    const site = await startEdgeSite(directory, { origin: `location / { root ${directory}; default_type text/html; }`, peers: [] });
    // Detection has a separate thread, which needs a machine with more than one core.
    await execute("taskset", ["-a", "-p", "-c", `0-${cpus().length - 1}`, String(site.selvedge.pid)]);
    const zones = [site.zoneId];
    for (const host of HOSTS.slice(1)) zones.push(await addZone(site, host));
    const detection: ManySided[] = [];
    const control: ManySided[] = [];
    const shed: number[] = [];
    let round = 0;
    const run = async (): Promise<Measurement> => {
      const scanned = round++ % zones.length;
      for (const [index, zoneId] of zones.entries()) await scan(site, zoneId, index === scanned);
      const before = await responses(site);
      const latencies = await load(site);
      const after = await readUntil(
        () => responses(site),
        ({ copied, scanned, shed: lost }) => scanned - before.scanned + lost - before.shed >= copied - before.copied,
      );
      const all = latencies.flatMap((hosts) => hosts[scanned] ?? []);
      const lost = after.shed - before.shed;
      if (after.scanned - before.scanned + lost < all.length) throw new Error("not every response was scanned, and none says why");
      // The start of each period, and of the whole run, is not counted.
      if (after.copied - before.copied > 2 * all.length) throw new Error("responses of others were scanned");
      // The first round warms up.
      if (round > 1) {
        shed.push(lost);
        for (const hosts of latencies) {
          const [on = [], off = [], again = []] = [...hosts.slice(scanned), ...hosts];
          detection.push({ ours: on, others: [off, again] });
          control.push({ ours: again, others: [off] });
        }
      }
      return { value: quantile(all, 0.99), also: { latency_p50_us: quantile(all, 0.5), requests: all.length } };
    };
    return {
      ours: { name: "with it", run },
      conclude: () => [
        `to without it ${ratios(detection)}, target 1.03`,
        `control, the others to each other ${ratios(control)}`,
        `responses not scanned: ${shed.reduce((sum, count) => sum + count, 0)}`,
      ],
      close: site.close,
    };
  },
};

async function addZone(site: EdgeSite, host: string): Promise<string> {
  const zoneId = await site.createZone(host.slice("www.".length));
  const record = { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 };
  await succeed(site.call("POST", `/zones/${zoneId}/dns_records`, record));
  return zoneId;
}

/** Whether responses of the zone are scanned. */
async function scan(site: EdgeSite, zoneId: string, isOn: boolean): Promise<void> {
  const rules = isOn ? [{ action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } }] : [];
  await succeed(site.call("PUT", `/zones/${zoneId}/rulesets/phases/http_response_firewall_managed/entrypoint`, { rules }));
}

async function load(site: EdgeSite): Promise<PacedLatencies> {
  const paced: PacedLoad = {
    ...{ port: Number(new URL(site.selvedge.ready.http).port), hosts: HOSTS, path: "/page" },
    ...{
      requestsPerSecond: REQUESTS_PER_SECOND,
      connections: CONNECTIONS,
      turnMs: TURN_MS,
      settleMs: SETTLE_MS,
      blocks: BLOCKS,
      warmUpBlocks: WARM_UP_BLOCKS,
    },
  };
  return JSON.parse(await runScript("paced-load.ts", [JSON.stringify(paced)])) as PacedLatencies;
}

/** Counts of the taps and the detector. */
async function responses({ selvedge }: EdgeSite): Promise<{ readonly copied: number; readonly scanned: number; readonly shed: number }> {
  const text = await (await fetch(`${new URL(selvedge.ready.api).origin}/metrics`)).text();
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^selvedge_detection_${name}_total(?:\\{[^}]*\\})? (\\d+)`, "gm"))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  return { copied: sum("responses"), scanned: sum("scanned"), shed: sum("shed") };
}

const ratios = (blocks: readonly ManySided[]): string =>
  [
    { name: "p50", share: 0.5, of: blocks },
    { name: "p99 of turns", share: 0.99, of: blocks },
    { name: `p99 of ${BLOCKS_FOR_P99} turns each`, share: 0.99, of: joined(blocks, BLOCKS_FOR_P99) },
  ]
    .map(({ name, share, of }) => {
      const { middle, low, high } = ratioOfBlocks(of, share);
      return `${name} ${middle.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;
    })
    .join(", ");
