import { open, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { attackSlowly, SLOW_ATTACKS, type SlowAttack } from "../support/slow-attacks.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { otherCpus, runTool } from "./program.ts";
import { residentBytes } from "./resident-bytes.ts";
import { type Block, quantile, ratioOfPooled } from "./statistics.ts";

/** Of each of the four attacks. */
const ATTACKERS = 250;
const SLOW_READERS = 4;
const BIG_BYTES = 256_000_000;
const CLIENTS = 4;
const REQUESTS_PER_SECOND = 400;
/** Length of each phase; an attack starts with it. Phases are short because the machine's load varies within seconds. */
const PHASE_SECONDS = 6;
const ROUNDS = 9;

/**
 * Sends good requests at a fixed rate, alternately without attacks and during slow heads, bodies, readers and ranges,
 * and readers of 256 MB. The same requests also go to the origin directly: the machine causes the latency that these
 * lose during attacks, not the proxy. Attackers take CPU from the measuring client in both cases. The result is printed
 * below the rounds, because p99 of a single round is only a few requests.
 */
export const edgeAttacks: Benchmark = {
  name: "edge-attacks",
  unit: "p99 of good requests amid slow attacks, as a multiple of the quiet one",
  better: "lower",
  target: 2,
  rounds: ROUNDS,
  tools: ["slowhttptest", "h2load", "nginx", "openssl"],
  prepare: async ({ directory }) => {
    const big = await open(join(directory, "big"), "w");
    await big.truncate(BIG_BYTES);
    await big.close();
    const site = await startEdgeSite(directory, {
      origin: `location / { return 200 "fine"; } location = /big { root ${directory}; }`,
      peers: [],
      args: ["--edge-connections-per-address-max", "0"],
    });
    const port = Number(new URL(site.selvedge.ready.http).port);
    const [through, past]: [Block[], Block[]] = [[], []];
    const phase = (): Promise<[Latencies, Latencies]> =>
      Promise.all([goodRequests(port, join(directory, "through")), goodRequests(site.originPort, join(directory, "past"))]);
    const attackedPhase = async (): Promise<[Latencies, Latencies, number]> => {
      const before = residentBytes(site.selvedge.pid);
      const end = startAttack(port);
      const attacked = await phase();
      const grownBytes = residentBytes(site.selvedge.pid) - before;
      await end();
      return [...attacked, grownBytes];
    };
    let rounds = 0;
    const run = async (): Promise<Measurement> => {
      // Each goes first in every other round, so that effects that grow with time are equal.
      const first = rounds % 2 === 0 ? await phase() : null;
      const [attacked, attackedPast, grownBytes] = await attackedPhase();
      const [quiet, quietPast] = first ?? (await phase());
      // The first one warms up.
      if (rounds++ > 0) {
        through.push({ ours: attacked, others: quiet });
        past.push({ ours: attackedPast, others: quietPast });
      }
      const [p99, quietP99] = [quantile(attacked, 0.99), quantile(quiet, 0.99)];
      return {
        value: p99 / quietP99,
        also: {
          attacked_p99_ms: p99 / 1000,
          quiet_p99_ms: quietP99 / 1000,
          requests: attacked.length,
          memory_mb: grownBytes / 1e6,
        },
      };
    };
    return {
      ours: { name: "selvedge", run },
      conclude: () => [`through the proxy ${ratio(through)}`, `past it ${ratio(past)}`],
      close: site.close,
    };
  },
};

const ratio = (blocks: readonly Block[]): string => {
  const { middle, low, high } = ratioOfPooled(blocks, 0.99);
  return `p99 ${middle.toFixed(2)} times the quiet one (95 %: ${low.toFixed(2)} to ${high.toFixed(2)})`;
};

/** Latencies of requests, in µs. */
type Latencies = readonly number[];

/** Each client sends requests at its own steady rate over one connection. Throws if a request fails. */
async function goodRequests(port: number, log: string): Promise<Latencies> {
  // The file is appended to, so it must be deleted first.
  await rm(log, { force: true });
  const pace = ["-t", "1", "-c", String(CLIENTS), `--rps=${REQUESTS_PER_SECOND / CLIENTS}`, "-D", String(PHASE_SECONDS)];
  await runTool("h2load", [...pace, "--h1", `--log-file=${log}`, `--connect-to=127.0.0.1:${port}`, `http://${SITE_HOST}/good`]);
  const rows = (await readFile(log, "utf8")).trim().split("\n");
  return rows.map((row) => {
    const [, status, tookUs = Number.NaN] = row.split("\t").map(Number);
    if (status !== 200) throw new Error(`a good request was answered with ${status}`);
    return tookUs;
  });
}

/** The returned function waits for the attackers, and throws if one of them could not reach the server. */
function startAttack(port: number): () => Promise<void> {
  const readers = Array.from({ length: SLOW_READERS }, () => slowReader(port));
  const attacks = Promise.all(
    (Object.keys(SLOW_ATTACKS) as SlowAttack[]).map((attack) =>
      attackSlowly(attack, SITE_HOST, port, ATTACKERS, PHASE_SECONDS, ["taskset", "--cpu-list", otherCpus(), "nice", "-n", "19"]),
    ),
  );
  return async () => {
    const cutOff = (await attacks).find(({ isAvailable }) => !isAvailable);
    for (const reader of readers) reader.destroy();
    if (cutOff !== undefined) throw new Error(`an attacker did not reach the edge any more: ${cutOff.output}`);
  };
}

/** Requests 256 MB and reads a few bytes per second. */
function slowReader(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => undefined).pause();
  socket.write(`GET /big HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
  const reading = setInterval(() => socket.read(64), 1000);
  socket.on("close", () => clearInterval(reading));
  return socket;
}
