import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { startBenchServer } from "./bench-server.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { dnsPlaces } from "./pump-dns.ts";
import { type NextAnswer, httpPlaces } from "./pump-http.ts";

const GOAL_MS = 50;
/** A slow result is measured again: the machine may have been busy. */
const TRIES = 4;
/** Too large, too long, too many requests. */
const NOT_LOOKED_AT = [413, 414, 429, 431];

/** Each of these has led some parser, when repeated, to read the same bytes again and again. */
const PIECES: readonly string[] = [
  ..." a0/.:;,=&?#%+-_\\\"'()[]{}<>|@$*!~^`",
  ...[
    "\t",
    "\u00e9",
    "\u00a0",
    '\\"',
    '""',
    "; ",
    ", ",
    "a=",
    "a&",
    "a=1&",
    "%2",
    "%41",
    "../",
    "//",
    "{aa,",
    '{"a":',
    "[{",
    "<a ",
    "--",
    "\\u00",
  ],
];

/** The position of a text: its maximum length, and how it is sent. */
export interface Place {
  readonly name: string;
  readonly bytes: number;
  /** Bytes that would end the position. */
  readonly not?: RegExp;
  /** The repeated parts there, if it is not text. */
  readonly pieces?: readonly string[];
  /** Resolves to the status of the response, which may be a refusal; 0 if the connection ended without one. */
  send(text: string): Promise<number>;
}

/**
 * Sends 55 kinds of repeated pieces in every position of untrusted input to one running server, one after the other,
 * and reports the longest time that one blocks a thread, as the best of a few tries, for each position in milliseconds.
 * A round has some 1,500 requests and takes about a minute. A server error ends it, except for unreadable responses of
 * the provider.
 */
export const pump: Benchmark = {
  name: "pump",
  unit: "ms for the worst of 55 repeated pieces in 29 places, at 128 KB or as much as is taken",
  better: "lower",
  target: GOAL_MS,
  rounds: 1,
  tools: [],
  prepare: async () => {
    let answer: Required<NextAnswer> = { type: "text/html", vary: "", body: "" };
    const upstream = createServer((req, res) => {
      req.resume();
      req.on("end", () => {
        res.writeHead(200, {
          "Content-Type": answer.type,
          "Cache-Control": "max-age=60",
          Vary: "Accept-Encoding, Priority",
          "X-Long": answer.vary,
        });
        res.end(Buffer.from(answer.body, "latin1"));
      });
    });
    const port = await listening(upstream);
    const bench = await startBenchServer([
      ...["--edge-origin-port", String(port), "--provider", `openai=http://127.0.0.1:${port}/v1`],
      ...["--dns-import-requests-per-minute", "0"],
    ]);
    const dns = await dnsPlaces(bench);
    const places = [...(await httpPlaces(bench, (next) => void (answer = { ...answer, ...next }))), ...dns.places];
    return {
      ours: { name: "selvedge", run: () => worst(places, bench.selvedge.ready.pid) },
      close: async () => {
        await bench.selvedge.stop();
        upstream.close();
        await dns.close();
      },
    };
  },
};

async function worst(places: readonly Place[], pid: number): Promise<Measurement> {
  const also: Record<string, number> = {};
  let worstMs = 0;
  for (const { name, bytes, not, pieces = PIECES, send } of places) {
    let placeMs = 0;
    let [asked, refused] = [0, 0];
    for (const piece of pieces) {
      if (not?.test(piece) === true) continue;
      const text = piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
      let ms = Infinity;
      let status = 0;
      for (let tries = 0; tries < TRIES && ms > Math.min(GOAL_MS, placeMs); tries++)
        ms = Math.min(ms, await heldMs(pid, async () => (status = await send(text))));
      asked += 1;
      if (status < 200 || status >= 300) refused += 1;
      if (NOT_LOOKED_AT.includes(status)) throw new Error(`${name}: status ${status}, so that nobody looked at ${JSON.stringify(piece)}`);
      if (status >= 500 && !name.startsWith("provider")) throw new Error(`${name}: status ${status} with ${JSON.stringify(piece)}`);
      if (ms > GOAL_MS) console.log(`  ${name}: ${ms.toFixed(0)} ms with ${JSON.stringify(piece)}`);
      placeMs = Math.max(placeMs, ms);
    }
    worstMs = Math.max(worstMs, placeMs);
    also[`${name}_ms`] = placeMs;
    also[`${name}_taken`] = (asked - refused) / asked;
  }
  return { value: worstMs, also };
}

/** CPU time of the busiest thread during the work, when it answers nothing else. Other work of the machine is not counted. */
async function heldMs(pid: number, work: () => Promise<number>): Promise<number> {
  const before = threadsNs(pid);
  await work();
  return Math.max(...Array.from(threadsNs(pid), ([thread, ns]) => ns - (before.get(thread) ?? ns))) / 1e6;
}

/** Time on a processor, by thread (proc(5), schedstat). */
function threadsNs(pid: number): ReadonlyMap<string, number> {
  const directory = `/proc/${pid}/task`;
  return new Map(
    readdirSync(directory).map((thread) => [thread, Number(readFileSync(`${directory}/${thread}/schedstat`, "latin1").split(" ", 1)[0])]),
  );
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { readonly port: number }).port;
}
