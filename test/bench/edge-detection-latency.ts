import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { succeed } from "../support/api.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { runTool } from "./program.ts";

const execute = promisify(execFile);
const OTHER_ZONE = "unscanned.example";
const CLIENTS = 8;
/** Short turns, and many: the mood of a machine meets all sides alike, and one bad moment spoils one turn. */
const TURN_SECONDS = 1;
const TURNS = 40;
/** A third of what one core of an ordinary machine serves. */
const REQUESTS_PER_SECOND = 1600;
const PAGE = "The edge of a cloth that finishes itself is called a selvedge, and keeps it from fraying. ".repeat(180).slice(0, 16_000);

/** What visitors wait for at a load that does not change, with every response scanned and with none. */
export const edgeDetectionLatency: Benchmark = {
  name: "edge-detection-latency",
  unit: `µs until a page of 16 KB has come, the 99th of a hundred, at ${REQUESTS_PER_SECOND} requests a second`,
  better: "lower",
  targetRatio: { peer: "without", ratio: 1.03 },
  noise: ["without", "without, again"],
  rounds: TURNS,
  tools: ["h2load", "nginx", "openssl"],
  prepare: async ({ directory }) => {
    await writeFile(join(directory, "page"), PAGE);
    const site = await startEdgeSite(directory, { origin: `location / { root ${directory}; default_type text/html; }`, peers: [] });
    const other = await site.createZone(OTHER_ZONE);
    const record = { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 };
    await succeed(site.call("POST", `/zones/${other}/dns_records`, record));
    const rules = [{ action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } }];
    await succeed(site.call("PUT", `/zones/${site.zoneId}/rulesets/phases/http_response_firewall_managed/entrypoint`, { rules }));
    // Detection has a thread of its own, which is for machines of more than one core.
    await execute("taskset", ["-a", "-p", "-c", `0-${cpus().length - 1}`, String(site.selvedge.pid)]);
    const contender = (name: string, host: string): Contender => ({
      name,
      run: () => latencies(site.selvedge.ready.http, host, TURN_SECONDS, join(directory, "requests")),
    });
    const without = `www.${OTHER_ZONE}`;
    const peers = [contender("without", without), contender("without, again", without)];
    return { ours: contender("with it", SITE_HOST), peers, close: site.close };
  },
};

/** Each client asks at its own steady pace over one connection. */
async function latencies(proxy: string, host: string, seconds: number, log: string): Promise<Measurement> {
  const pace = ["-t", "1", "-c", String(CLIENTS), `--rps=${REQUESTS_PER_SECOND / CLIENTS}`, "-D", String(seconds)];
  // It is written on, not anew.
  await rm(log, { force: true });
  await runTool("h2load", [...pace, "--h1", `--log-file=${log}`, `--connect-to=127.0.0.1:${new URL(proxy).port}`, `http://${host}/page`]);
  const rows = (await readFile(log, "utf8"))
    .trim()
    .split("\n")
    .map((line) => line.split("\t").map(Number));
  if (rows.some(([, status]) => status !== 200)) throw new Error("not every request succeeded");
  const took = rows.map(([, , microseconds = Number.NaN]) => microseconds).sort((a, b) => a - b);
  const quantile = (share: number): number => took[Math.floor(share * (took.length - 1))] ?? Number.NaN;
  return { value: quantile(0.99), also: { latency_p50_us: quantile(0.5), requests_per_second: took.length / seconds } };
}
