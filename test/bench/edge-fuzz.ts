import { METHODS } from "node:http";
import { connect } from "node:net";
import { succeed } from "../support/api.ts";
import { type CountingOrigin, startCountingOrigin } from "../support/counting-origin.ts";
import { mutatedRequests, mutatedResponses, randomPieces } from "../support/http-mutations.ts";
import { nodeRequests, nodeResponse, readRequests, readResponse } from "../support/http-readings.ts";
import { type Random, seededRandom } from "../support/random-zone.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import { residentBytes } from "./resident-bytes.ts";

const STREAMS = 100_000;
const AT_ONCE = 64;
/** Streams that wait for more data are closed after this time; the origin has received everything by then. */
const PATIENCE_MS = 50;
const MESSAGES = 100_000;
const ZONE = "example.com";

/**
 * Sends a hundred thousand mutated request streams over real connections through the edge to an origin that parses with
 * `node:http`. Fails if the origin cannot parse a request, if the edge throws, or if our parser and that of Node.js
 * read the same bytes differently. The value is the memory growth after the first tenth.
 */
export const edgeFuzz: Benchmark = {
  name: "edge-fuzz",
  unit: `MB of memory more after ${STREAMS} mutated streams than after the first tenth`,
  better: "lower",
  tools: [],
  prepare: async () => {
    const origin = await startCountingOrigin();
    const server = await startBenchServer(["--edge-origin-port", String(origin.port), "--edge-connections-per-address-max", "0"]);
    const zoneId = await server.createZone(ZONE);
    await succeed(
      server.call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true }),
    );
    let seed = 1;
    return {
      ours: { name: "selvedge", run: () => fuzz(server, origin, seededRandom(seed++)) },
      close: async () => {
        await server.selvedge.stop();
        origin.close();
      },
    };
  },
};

async function fuzz({ selvedge }: BenchServer, origin: CountingOrigin, random: Random): Promise<Measurement> {
  const port = Number(new URL(selvedge.ready.http).port);
  let [sent, seen, early] = [0, 0, 0];
  const started = performance.now();
  const visitor = async (): Promise<void> => {
    while (sent < STREAMS) {
      sent++;
      if (sent === STREAMS / 10) early = residentBytes(selvedge.pid);
      await stream(port, readableRequests(random), random);
      if (origin.faults.length > 0) throw new Error(`the origin was sent what is no request: ${origin.faults[0]}`);
      if (origin.requests.length > 10_000) {
        seen += origin.requests.length;
        origin.reset();
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, visitor));
  const seconds = (performance.now() - started) / 1000;
  const compared = await compareParsers(random);
  const failures = await internalErrors(selvedge.ready.api);
  if (failures > 0) throw new Error(`${failures} connections made the edge fail`);
  const late = residentBytes(selvedge.pid);
  seen += origin.requests.length;
  return {
    value: (late - early) / 1e6,
    also: { streams_per_second: STREAMS / seconds, requests_at_origin: seen, messages_compared: compared, rss_mb: late / 1e6 },
  };
}

/** Node.js accepts only some methods, and the edge forwards any: a stream that may have another method is not compared. */
function readableRequests(random: Random): string {
  for (;;) {
    const text = mutatedRequests(random);
    const { begun } = readRequests([Buffer.from(text, "latin1")]);
    if (begun.every((start) => METHODS.includes(start.split(" ")[0]!))) return text;
  }
}

/** Sends one stream, whole or in chunks, and waits until it is answered and closed, or for a moment. */
function stream(port: number, text: string, random: Random): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const bytes = Buffer.from(text, "latin1");
    const pieces = random(4) === 0 ? randomPieces(bytes, random) : [bytes];
    const limit = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.on("connect", () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.on("error", () => undefined).resume();
    socket.on("close", () => {
      clearTimeout(limit);
      resolve();
    });
  });
}

/** Compares our parsers with those of Node.js; returns how many messages both accepted. */
async function compareParsers(random: Random): Promise<number> {
  let compared = 0;
  for (let i = 0; i < MESSAGES; i++) {
    const isRequest = random(2) === 0;
    const text = isRequest ? mutatedRequests(random) : mutatedResponses(random);
    const bytes = Buffer.from(text, "latin1");
    const ours = isRequest ? readRequests([bytes]) : readResponse(bytes, "GET");
    const theirs = await (isRequest ? nodeRequests(bytes) : nodeResponse(bytes, "GET"));
    if (!isRequest && theirs.isRefused) continue;
    const common = Math.min(ours.messages.length, theirs.messages.length);
    compared += common;
    if (JSON.stringify(ours.messages.slice(0, common)) !== JSON.stringify(theirs.messages.slice(0, common))) {
      throw new Error(`read differently: ${JSON.stringify(text)}`);
    }
  }
  return compared;
}

async function internalErrors(api: string): Promise<number> {
  const text = await (await fetch(`${new URL(api).origin}/metrics`)).text();
  return Number(/^selvedge_edge_internal_errors_total(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}
