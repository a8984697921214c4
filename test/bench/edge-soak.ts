import { readdirSync } from "node:fs";
import { Agent as PlainAgent, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { connect } from "node:net";
import { WebSocket, Agent as Dispatcher } from "undici";
import { mutatedRequests } from "../support/http-mutations.ts";
import { pick, type Random, seededRandom } from "../support/random-zone.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { MIXED_HOST, type MixedSite, startMixedSite } from "./mixed-site.ts";
import { residentBytes } from "./resident-bytes.ts";

/** Where nothing else was asked for: `--seconds` of less says how long other benchmarks load their servers. */
const SECONDS = 600;
const SECONDS_MIN = 30;
const VISITORS = 24;
/** What was held at this part of the time is what the end is compared with. */
const SETTLED_AT = 0.3;

/** Visitors of every kind for ten minutes, or `--seconds`: memory and descriptors must be flat. */
export const edgeSoak: Benchmark = {
  name: "edge-soak",
  unit: "MB of memory more at the end than after three tenths of the time",
  better: "lower",
  tools: [],
  prepare: async ({ seconds }) => {
    const site = await startMixedSite();
    const agents = { plain: new PlainAgent({ keepAlive: true }), secure: new SecureAgent({ keepAlive: true, rejectUnauthorized: false }) };
    let runs = 0;
    const total = seconds < SECONDS_MIN ? SECONDS : seconds;
    return {
      // The first run only warms up.
      ours: { name: "selvedge", run: () => soak(site, agents, runs++ === 0 ? SECONDS_MIN : total) },
      close: async () => {
        agents.plain.destroy();
        agents.secure.destroy();
        await site.close();
      },
    };
  },
};

interface Agents {
  readonly plain: PlainAgent;
  readonly secure: SecureAgent;
}

async function soak(site: MixedSite, agents: Agents, seconds: number): Promise<Measurement> {
  const { pid } = site.selvedge;
  const random = seededRandom(Math.round(seconds));
  const visits = visitsOf(site, agents, random);
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1000 / seconds;
  let [count, failed, early, earlyFiles] = [0, 0, 0, 0];
  await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      while (elapsed() < 1) {
        count++;
        if (!(await pick(random, visits)())) failed++;
        if (early > 0 || elapsed() < SETTLED_AT) continue;
        early = residentBytes(pid);
        earlyFiles = openFiles(pid);
      }
    }),
  );
  if (failed > 0) throw new Error(`${failed} of ${count} visits did not get what they should`);
  const late = residentBytes(pid);
  return {
    value: (late - early) / 1e6,
    also: { visits: count, rss_mb: late / 1e6, files: openFiles(pid), files_more: openFiles(pid) - earlyFiles },
  };
}

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Each says whether it got what it should. */
function visitsOf(site: MixedSite, agents: Agents, random: Random): readonly (() => Promise<boolean>)[] {
  const [plain, secure] = [Number(site.http.port), Number(site.https.port)];
  const dispatcher = new Dispatcher({ connect: { lookup: (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]) } });
  const small = () => ask(request, plain, agents.plain, "GET", "/", "");
  const secureSmall = () => ask(secureRequest, secure, agents.secure, "GET", "/", "");
  return [
    small,
    small,
    small,
    secureSmall,
    secureSmall,
    () => ask(secureRequest, secure, new SecureAgent({ rejectUnauthorized: false }), "GET", "/", ""),
    () => ask(request, plain, agents.plain, "POST", "/", "x".repeat(random(300_000))),
    () => ask(secureRequest, secure, agents.secure, "GET", "/file", ""),
    () => webSocket(plain, dispatcher),
    () => rawBytes(plain, mutatedRequests(random), 5),
    () => rawBytes(plain, `GET /big HTTP/1.1\r\nHost: ${MIXED_HOST}\r\n\r\n`, random(200)),
    () => rawBytes(plain, `POST / HTTP/1.1\r\nHost: ${MIXED_HOST}\r\nContent-Length: 1000\r\n\r\nhalf`, random(100)),
    () => rawBytes(secure, "\x16\x03\x01\x02\x00\x01", 20),
  ];
}

type Ask = typeof request;

function ask(send: Ask, port: number, agent: PlainAgent | SecureAgent, method: string, path: string, body: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      port,
      host: "127.0.0.1",
      servername: MIXED_HOST,
      path,
      method,
      agent,
      headers: { host: MIXED_HOST, "content-length": body.length },
    };
    const req = send(
      options,
      (res) =>
        void res
          .resume()
          .on("end", () => resolve(res.statusCode === 200))
          .on("error", () => resolve(false)),
    );
    // A kept connection that the server closes just then is no fault of either.
    req.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNRESET" && req.reusedSocket));
    req.end(body);
  });
}

function webSocket(port: number, dispatcher: Dispatcher): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://${MIXED_HOST}:${port}/`, { dispatcher });
    socket.addEventListener("open", () => socket.send("hello"));
    socket.addEventListener("message", ({ data }) => {
      socket.close();
      resolve(data === "hello");
    });
    socket.addEventListener("error", () => resolve(false));
  });
}

/** Sends the bytes, whatever they are, and goes away after a while. */
function rawBytes(port: number, text: string, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(text, "latin1"));
    const limit = setTimeout(() => socket.destroy(), patienceMs + 1);
    socket.on("error", () => undefined).resume();
    socket.on("close", () => {
      clearTimeout(limit);
      resolve(true);
    });
  });
}
