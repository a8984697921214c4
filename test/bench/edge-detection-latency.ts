import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { succeed } from "../support/api.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { runTool } from "./program.ts";
import { type Block, quantile, ratioOfPooled } from "./statistics.ts";

const execute = promisify(execFile);
const CLIENTS = 8;
/** A third of what one core of an ordinary machine serves. */
const REQUESTS_PER_SECOND = 1600;
const PAGE = "The edge of a cloth that finishes itself is called a selvedge, and keeps it from fraying. ".repeat(180).slice(0, 16_000);

/** One server, one rule and the same connections: the rule's expression switches detection on and off so often in a second. */
const SWITCH_MS = 125;
/** Requests that begin so soon after a switch belong to neither side: what was copied before it is still scanned. */
const SETTLE_MS = 25;
const SECOND_MS = 1000;
/** Each round's load, of which the first second warms up. */
const ROUND_SECONDS = 6;
const ROUNDS = 40;

/**
 * What visitors wait for at a load that does not change, in moments with every response scanned and in moments with none that
 * follow one another within a second, so that the machine's mood meets both. What happens at the same time of every second
 * meets both as well: the sides change places from round to round. The control has no rule, and is read in the same way.
 */
export const edgeDetectionLatency: Benchmark = {
  name: "edge-detection-latency",
  unit: `µs until a page of 16 KB has come, the 99th of a hundred, at ${REQUESTS_PER_SECOND} requests a second`,
  better: "lower",
  rounds: ROUNDS,
  tools: ["h2load", "nginx", "openssl"],
  prepare: async ({ directory }) => {
    await writeFile(join(directory, "page"), PAGE);
    const site = await startEdgeSite(directory, { origin: `location / { root ${directory}; default_type text/html; }`, peers: [] });
    // Detection has a thread of its own, which is for machines of more than one core.
    await execute("taskset", ["-a", "-p", "-c", `0-${cpus().length - 1}`, String(site.selvedge.pid)]);
    const entryPoint = `/zones/${site.zoneId}/rulesets/phases/http_response_firewall_managed/entrypoint`;
    const deploy = (rules: readonly unknown[]) => succeed(site.call("PUT", entryPoint, { rules }));
    const load = () => requests(site.selvedge.ready.http, join(directory, "requests"));
    const [seen, control]: [Block[], Block[]] = [[], []];
    let isSwapped = false;
    const scanned = async (): Promise<Measurement> => {
      isSwapped = !isSwapped;
      const expression = `http.request.timestamp.msec in {${moments(isSwapped)}}`;
      await deploy([{ action: "execute", expression, action_parameters: { id: SENSITIVE_DATA_RULESET_ID } }]);
      const blocks = blocksOf(await load(), isSwapped);
      seen.push(...blocks);
      return figures(blocks);
    };
    const unscanned = async (): Promise<Measurement> => {
      await deploy([]);
      const blocks = blocksOf(await load(), isSwapped);
      control.push(...blocks);
      return figures(blocks);
    };
    return {
      ours: { name: "with it", run: scanned },
      peers: [{ name: "no rule", run: unscanned }],
      conclude: () => [
        `to without it ${ratios(seen)}, target 1.03`,
        `the same, read of rounds without a rule ${ratios(control)}`,
        `to rounds without a rule ${ratios(across(seen, control))}`,
      ],
      close: site.close,
    };
  },
};

/** Ranges of milliseconds of a second in which responses are scanned. */
function moments(isSwapped: boolean): string {
  const starts = Array.from({ length: SECOND_MS / SWITCH_MS }, (_, index) => index * SWITCH_MS);
  return starts
    .filter((at) => isScanned(at, isSwapped))
    .map((at) => `${at}..${at + SWITCH_MS - 1}`)
    .join(" ");
}

const isScanned = (ms: number, isSwapped: boolean): boolean => (Math.floor(ms / SWITCH_MS) % 2 === 0) !== isSwapped;

/** When it began, by the system's clock, and how long it took. */
interface Request {
  readonly atUs: number;
  readonly tookUs: number;
}

/** A block of every second: its latencies with detection, and without. */
function blocksOf(all: readonly Request[], isSwapped: boolean): readonly Block[] {
  const from = Math.min(...all.map(({ atUs }) => Math.floor(atUs / 1e6))) + 2;
  const blocks = new Map<number, { ours: number[]; others: number[] }>();
  for (const { atUs, tookUs } of all) {
    const second = Math.floor(atUs / 1e6);
    const ms = Math.floor(atUs / 1000) % SECOND_MS;
    if (second < from || ms % SWITCH_MS < SETTLE_MS) continue;
    const block = blocks.get(second) ?? { ours: [], others: [] };
    blocks.set(second, block);
    (isScanned(ms, isSwapped) ? block.ours : block.others).push(tookUs);
  }
  return [...blocks.values()].filter(({ ours, others }) => ours.length > 0 && others.length > 0);
}

/** Pairs each second of the one with the second of the other that has the same number. */
const across = (blocks: readonly Block[], peers: readonly Block[]): readonly Block[] =>
  blocks.slice(0, peers.length).map(({ ours }, index) => {
    const { ours: some = [], others: more = [] } = peers[index] ?? {};
    return { ours, others: [...some, ...more] };
  });

function figures(blocks: readonly Block[]): Measurement {
  const all = blocks.flatMap(({ ours }) => ours);
  return { value: quantile(all, 0.99), also: { latency_p50_us: quantile(all, 0.5), requests: all.length } };
}

const ratios = (blocks: readonly Block[]): string =>
  [0.5, 0.99]
    .map((share) => {
      const { middle, low, high } = ratioOfPooled(blocks, share);
      return `p${share * 100} ${middle.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;
    })
    .join(", ");

/** Each client asks at its own steady pace over one connection. */
async function requests(proxy: string, log: string): Promise<readonly Request[]> {
  const pace = ["-t", "1", "-c", String(CLIENTS), `--rps=${REQUESTS_PER_SECOND / CLIENTS}`, "-D", String(ROUND_SECONDS)];
  // It is written on, not anew.
  await rm(log, { force: true });
  const server = `--connect-to=127.0.0.1:${new URL(proxy).port}`;
  await runTool("h2load", [...pace, "--h1", `--log-file=${log}`, server, `http://${SITE_HOST}/page`]);
  const rows = (await readFile(log, "utf8")).trim().split("\n");
  return rows.map((row) => {
    const [atUs = Number.NaN, status, tookUs = Number.NaN] = row.split("\t").map(Number);
    if (status !== 200) throw new Error("not every request succeeded");
    return { atUs, tookUs };
  });
}
