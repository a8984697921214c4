import { open } from "node:fs/promises";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { attackSlowly, SLOW_ATTACKS, type SlowAttack } from "../support/slow-attacks.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { NGINX, SITE_HOST, startEdgeSite } from "./edge-site.ts";
import { otherCpus } from "./program.ts";
import { residentBytes } from "./resident-bytes.ts";

/** Of each of the four attacks. */
const CONNECTIONS = 250;
const SLOW_READERS = 4;
const BIG_BYTES = 256_000_000;
const GOOD_EVERY_MS = 5;
const SECONDS_MIN = 10;

/**
 * Good requests at a fixed rate, first in quiet, then amid slow heads, bodies, readers and ranges and readers of 256 MB. The
 * same requests go to the origin past the proxy: what they lose amid the attacks the machine loses, and no proxy.
 */
export const edgeAttacks: Benchmark = {
  name: "edge-attacks",
  unit: "p99 of good requests amid slow attacks, as a multiple of the quiet one",
  better: "lower",
  target: 2,
  tools: ["slowhttptest", "nginx", "openssl"],
  prepare: async ({ seconds, directory }) => {
    const big = await open(join(directory, "big"), "w");
    await big.truncate(BIG_BYTES);
    await big.close();
    const site = await startEdgeSite(directory, {
      origin: `location / { return 200 "fine"; } location = /big { root ${directory}; }`,
      peers: [NGINX],
      args: ["--edge-connections-per-address-max", "0"],
    });
    const contender = (name: string, pid: number, port: number): Contender => ({
      name,
      run: () => measure(name, pid, port, site.originPort, Math.max(SECONDS_MIN, seconds)),
    });
    return {
      ours: contender("selvedge", site.selvedge.pid, Number(new URL(site.selvedge.ready.http).port)),
      peers: site.proxies.map(({ name, pid, http }) => contender(name, pid, Number(http.port))),
      close: site.close,
    };
  },
};

async function measure(name: string, pid: number, port: number, originPort: number, seconds: number): Promise<Measurement> {
  const bothWays = () => Promise.all([goodRequests(port, seconds), goodRequests(originPort, seconds)]);
  const [quiet, quietDirect] = await bothWays();
  const before = residentBytes(pid);
  const readers = Array.from({ length: SLOW_READERS }, () => slowReader(port));
  const attacks = Promise.all(
    (Object.keys(SLOW_ATTACKS) as SlowAttack[]).map((attack) => attackSlowly(attack, SITE_HOST, port, CONNECTIONS, seconds, otherCpus())),
  );
  const [attacked, attackedDirect] = await bothWays();
  const grownBytes = residentBytes(pid) - before;
  for (const reader of readers) reader.destroy();
  const cutOff = (await attacks).find(({ isAvailable }) => !isAvailable);
  if (cutOff !== undefined) throw new Error(`an attacker did not reach ${name} any more: ${cutOff.output}`);
  return {
    value: attacked.p99 / quiet.p99,
    also: {
      quiet_p99_ms: quiet.p99,
      attacked_p99_ms: attacked.p99,
      past_the_proxy: attackedDirect.p99 / quietDirect.p99,
      requests: attacked.count,
      memory_mb: grownBytes / 1e6,
    },
  };
}

/** One request every so often, whatever became of the ones before it. Throws where one fails. */
async function goodRequests(port: number, seconds: number): Promise<{ readonly p99: number; readonly count: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const latenciesMs: number[] = [];
  const pending: Promise<void>[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    pending.push(goodRequest(port, agent).then((tookMs) => void latenciesMs.push(tookMs)));
    await new Promise((done) => setTimeout(done, GOOD_EVERY_MS));
  }
  await Promise.all(pending);
  agent.destroy();
  latenciesMs.sort((a, b) => a - b);
  return { p99: latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? Number.NaN, count: latenciesMs.length };
}

function goodRequest(port: number, agent: Agent): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const req = get({ port, host: "127.0.0.1", path: "/good", agent, headers: { host: SITE_HOST }, timeout: 30_000 }, (res) => {
      if (res.statusCode !== 200) reject(new Error(`a good request was answered with ${res.statusCode}`));
      res.resume().on("end", () => resolve(performance.now() - started));
    });
    req.on("timeout", () => req.destroy(new Error("a good request was not answered in 30 seconds"))).on("error", reject);
  });
}

/** Asks for 256 MB and takes a few bytes a second. */
function slowReader(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => undefined).pause();
  socket.write(`GET /big HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
  const reading = setInterval(() => socket.read(64), 1000);
  socket.on("close", () => clearInterval(reading));
  return socket;
}
