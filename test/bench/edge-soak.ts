import { readdirSync } from "node:fs";
import { Agent as PlainAgent, request } from "node:http";
import { type ClientHttp2Session, connect as connectSession, constants } from "node:http2";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { connect } from "node:net";
import { WebSocket, Agent as Dispatcher } from "undici";
import { mutatedRequests } from "../support/http-mutations.ts";
import { pick, type Random, seededRandom } from "../support/random-zone.ts";
import type { Benchmark } from "./benchmark.ts";
import { MIXED_HOST, type MixedSite, startMixedSite } from "./mixed-site.ts";
import { residentBytes } from "./resident-bytes.ts";

/** Default duration: a shorter `--seconds` applies to the load of other benchmarks. */
const SECONDS = 600;
const SECONDS_MIN = 30;
const VISITORS = 24;
/** Each client has a fixed rate, so that a run of ten minutes leaves CPU to other programs: about 80 visits per second in total. */
const VISIT_EVERY_MS = 300;
/** More data than the memory cache can store. */
const ASSETS = 4_000;
/** Threads release the memory of their work half a minute after it. */
const QUIET_MS = 45_000;

/**
 * Runs clients of every kind for ten minutes, or `--seconds`: memory and descriptors must stay constant. They are
 * compared without load, after a short and after the long run: under load uncollected garbage varies by more than a
 * leak would grow.
 */
export const edgeSoak: Benchmark = {
  name: "edge-soak",
  unit: "MB of memory more in quiet after the visitors than before them",
  better: "lower",
  rounds: 1,
  tools: [],
  prepare: async ({ seconds }) => {
    const site = await startMixedSite();
    const agents = { plain: new PlainAgent({ keepAlive: true }), secure: new SecureAgent({ keepAlive: true, rejectUnauthorized: false }) };
    let runs = 0;
    let last = { bytes: 0, files: 0 };
    const total = seconds < SECONDS_MIN ? SECONDS : seconds;
    return {
      // The first run only warms up, and fills the cache.
      ours: {
        name: "selvedge",
        run: async () => {
          const isFirst = runs++ === 0;
          if (isFirst) for (let number = 0; number < ASSETS; number++) await askForAsset(site, agents, number);
          const visits = await soak(site, agents, isFirst ? SECONDS_MIN : total);
          const loaded = residentBytes(site.selvedge.pid);
          await new Promise((done) => setTimeout(done, QUIET_MS));
          const before = last;
          last = { bytes: residentBytes(site.selvedge.pid), files: openFiles(site.selvedge.pid) };
          return {
            value: (last.bytes - before.bytes) / 1e6,
            also: {
              visits,
              rss_mb: last.bytes / 1e6,
              rss_loaded_mb: loaded / 1e6,
              files: last.files,
              files_more: last.files - before.files,
            },
          };
        },
      },
      close: async () => {
        agents.plain.destroy();
        agents.secure.destroy();
        await site.close();
      },
    };
  },
};

const askForAsset = ({ http }: MixedSite, { plain }: Agents, number: number): Promise<boolean> =>
  ask(request, Number(http.port), plain, "GET", `/asset-${number}.css`, "");

interface Agents {
  readonly plain: PlainAgent;
  readonly secure: SecureAgent;
}

/** Returns the number of visits; throws if one of them got a wrong response. */
async function soak(site: MixedSite, agents: Agents, seconds: number): Promise<number> {
  const random = seededRandom(Math.round(seconds));
  const session = connectHttp2(site);
  const visits = visitsOf(site, agents, session, random);
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1000 / seconds;
  const failed: string[] = [];
  let count = 0;
  await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      while (elapsed() < 1) {
        count++;
        const visit = pick(random, visits);
        const pause = new Promise((done) => setTimeout(done, VISIT_EVERY_MS));
        if (!(await visit())) failed.push(visit.toString());
        await pause;
      }
    }),
  );
  session.close();
  if (failed.length > 0) {
    const kinds = Object.entries(Object.groupBy(failed, (visit) => visit)).map(([visit, all]) => `${all?.length} times ${visit}`);
    throw new Error(`${failed.length} of ${count} visits did not get what they should: ${kinds.join("; ")}`);
  }
  return count;
}

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Each returns whether its response was right. */
function visitsOf(site: MixedSite, agents: Agents, session: ClientHttp2Session, random: Random): readonly (() => Promise<boolean>)[] {
  const [plain, secure] = [Number(site.http.port), Number(site.https.port)];
  const dispatcher = new Dispatcher({ connect: { lookup: (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]) } });
  const small = () => ask(request, plain, agents.plain, "GET", "/", "");
  const secureSmall = () => ask(secureRequest, secure, agents.secure, "GET", "/", "");
  const asset = (): string => `/asset-${random(ASSETS)}.css`;
  return [
    () => ask(request, plain, agents.plain, "GET", asset(), ""),
    () => ask(request, plain, agents.plain, "GET", asset(), "", { range: "bytes=10-99" }, 206),
    () => ask(secureRequest, secure, agents.secure, "GET", asset(), ""),
    () => askOver(session, asset()),
    () => askOver(session, asset()),
    () => askOver(session, "/"),
    () => askOver(session, "/file"),
    () => askOver(session, "/", "x".repeat(random(300_000))),
    () => takeBack(session, "/big", random(50)),
    () => askOver(session, "/reset", "", 520),
    () => ask(request, plain, agents.plain, "GET", "/reset", "", {}, 520),
    () => ask(request, plain, agents.plain, "GET", "/", "", { host: "nobody.example" }, 530),
    () => rawBytes(plain, `GET /half HTTP/1.1\r\nHost: ${MIXED_HOST}\r\n\r\n`, 1000),
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

function ask(
  send: Ask,
  port: number,
  agent: PlainAgent | SecureAgent,
  method: string,
  path: string,
  body: string,
  fields: Readonly<Record<string, string>> = {},
  expected = 200,
): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      port,
      host: "127.0.0.1",
      servername: MIXED_HOST,
      path,
      method,
      agent,
      headers: { host: MIXED_HOST, "content-length": body.length, ...fields },
    };
    const req = send(
      options,
      (res) =>
        void res
          .resume()
          .on("end", () => resolve(res.statusCode === expected))
          .on("error", () => resolve(false)),
    );
    // A kept-alive connection that the server closes at that moment is not an error.
    req.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNRESET" && req.reusedSocket));
    req.end(body);
  });
}

const connectHttp2 = ({ https }: MixedSite): ClientHttp2Session =>
  connectSession(`https://${MIXED_HOST}`, {
    host: "127.0.0.1",
    port: Number(https.port),
    servername: MIXED_HOST,
    rejectUnauthorized: false,
  });

/** Sends the request in a stream of the connection that all HTTP/2 clients share. */
function askOver(session: ClientHttp2Session, path: string, body = "", expected = 200): Promise<boolean> {
  return new Promise((resolve) => {
    let status = 0;
    const stream = session.request(
      { ":path": path, ":authority": MIXED_HOST, ":method": body === "" ? "GET" : "POST" },
      { endStream: body === "" },
    );
    stream.on("response", (fields) => (status = Number(fields[":status"])));
    stream.on("error", () => undefined).resume();
    stream.on("close", () => resolve(status === expected && stream.rstCode === 0));
    if (body !== "") stream.end(body);
  });
}

/** Sends a request and cancels it. */
async function takeBack(session: ClientHttp2Session, path: string, patienceMs: number): Promise<boolean> {
  const stream = session.request({ ":path": path, ":authority": MIXED_HOST });
  const closed = new Promise((done) => stream.on("close", done));
  stream.on("error", () => undefined).resume();
  await new Promise((done) => setTimeout(done, patienceMs + 1));
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
  return true;
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

/** Sends any bytes and disconnects after a while. */
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
