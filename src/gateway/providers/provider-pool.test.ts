import assert from "node:assert/strict";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { eventually } from "../../../test/support/eventually.ts";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { createTimers } from "#kernel/timers.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { WAYS } from "#wire/connections/testing/transports.ts";
import type { HeaderObject } from "#wire/http/header-object.ts";
import { GATEWAY_LIMITS, type GatewayLimits } from "#gateway/config.ts";
import type { ReadyBody } from "#gateway/request/plan.ts";
import { fetchBuffered } from "./fetch-buffered.ts";
import type { ProviderCall } from "./provider-call.ts";
import { createProviderPool, type ProviderPool } from "./provider-pool.ts";
import { createReadTicks } from "./read-coalescing.ts";

const here: LookupFunction = (_name, options, callback) =>
  options.all === true ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4);

function poolTo(t: TestContext, origin: string, limits: Partial<GatewayLimits> = {}, loop: SocketLoop | null = null): ProviderPool {
  const timers = createTimers(systemClock);
  const ticks = createReadTicks(systemClock);
  const pool = createProviderPool({ origin, lookup: here, loop, limits: { ...GATEWAY_LIMITS, ...limits }, timers, ticks });
  t.after(() => {
    pool.destroy();
    timers.close();
  });
  return pool;
}

async function listening(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A provider that answers each request with arbitrary bytes. */
const rawProvider = (t: TestContext, answer: (socket: Socket, text: string, connection: number) => void): Promise<number> => {
  let connections = 0;
  const server = createServer((socket) => {
    const connection = connections++;
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => answer(socket, bytes.toString("latin1"), connection));
  });
  return listening(t, server);
};

interface Answer {
  readonly status: number;
  readonly headers: HeaderObject;
  readonly body: string;
  /** Empty if the answer was complete. */
  readonly failure: string;
  readonly pieces: number;
}

const NOTHING: ReadyBody = { kind: "whole", bytes: Buffer.alloc(0) };

function ask(pool: ProviderPool, request: { method?: string; target?: string; headers?: string[]; body?: ReadyBody } = {}) {
  const answer = { status: 0, headers: {} as HeaderObject, body: "", failure: "", pieces: 0 };
  let call: ProviderCall | undefined;
  const done = new Promise<Answer>((resolve) => {
    call = pool.ask(
      { method: "POST", target: "/v1/chat", headers: ["accept", "*/*"], body: NOTHING, ...request },
      {
        onHead: (status, headers) => void Object.assign(answer, { status, headers }),
        onData: (bytes) => {
          answer.body += bytes.toString("latin1");
          answer.pieces++;
        },
        onEnd: () => resolve(answer),
        onFailed: (failure) => resolve({ ...answer, failure }),
      },
    );
  });
  return { done, call: call as ProviderCall, soFar: answer };
}

const WHOLE = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test("a connection is reused, but not after Connection: close or unexpected data", async (t) => {
  const used: number[] = [];
  const port = await rawProvider(t, (socket, _text, connection) => {
    used.push(connection);
    if (used.length === 2) socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok");
    else socket.write(used.length === 4 ? `${WHOLE}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil` : WHOLE);
  });
  const pool = poolTo(t, `http://provider.test:${port}`);
  for (let i = 0; i < 6; i++) assert.equal((await ask(pool).done).body, "ok");
  assert.deepEqual(used, [0, 0, 1, 1, 2, 2]);
});

for (const [way, loop] of WAYS) {
  const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const chunk = (i: number): string => `${i > 9 ? "c" : "b"}\r\ndata: ${i} .\n\n\r\n`;
  /** Sends each event when `next` resolves; `next` gets the number of sent events. */
  const streaming = (t: TestContext, events: number, next: (sent: number) => Promise<unknown>): Promise<number> =>
    rawProvider(t, async (socket) => {
      socket.setNoDelay(true);
      socket.write(HEAD);
      for (let sent = 0; sent <= events; sent++) {
        await next(sent);
        socket.write(sent === events ? "0\r\n\r\n" : chunk(sent));
      }
    });
  const whole = (events: number): string => Array.from({ length: events }, (_, i) => `data: ${i} .\n\n`).join("");

  test(`by ${way}, fast events are read together, slow ones as they arrive, and the connection serves the next stream`, async (t) => {
    const fast = poolTo(t, `http://127.0.0.1:${await streaming(t, 40, () => turn())}`, {}, loop);
    for (let i = 0; i < 3; i++) {
      const { body, failure, pieces } = await ask(fast).done;
      assert.deepEqual([body, failure], [whole(40), ""]);
      assert.ok(pieces < 30, `${pieces} pieces`);
    }
    // Waits until the previous event was read, because a busy machine may read late.
    const afterwards = (sent: number): Promise<unknown> => eventually(() => one.soFar.pieces >= Math.min(sent, 8)).then(() => delay(25));
    const slow = poolTo(t, `http://127.0.0.1:${await streaming(t, 8, afterwards)}`, {}, loop);
    const one = ask(slow);
    const { body, pieces } = await one.done;
    assert.deepEqual([body, pieces], [whole(8), 8]);
  });

  test(`by ${way}, an abandoned fast stream is closed at once, and a truncated one fails`, async (t) => {
    const gone = Promise.withResolvers<void>();
    const port = await rawProvider(t, (socket) => {
      socket.write(HEAD);
      let i = 0;
      const timer = setInterval(() => socket.write(chunk(i++ % 10)), 1);
      socket.on("close", () => {
        clearInterval(timer);
        gone.resolve();
      });
    });
    const { call } = ask(poolTo(t, `http://127.0.0.1:${port}`, {}, loop));
    await new Promise((resolve) => setTimeout(resolve, 60));
    call.abort();
    await gone.promise;
    const broken = await rawProvider(t, (socket) => {
      socket.write(HEAD + chunk(0));
      setTimeout(() => socket.write(chunk(1)), 2);
      setTimeout(() => socket.end(chunk(2)), 4);
    });
    const { body, failure } = await ask(poolTo(t, `http://127.0.0.1:${broken}`, {}, loop)).done;
    assert.deepEqual([body, failure], [whole(3), "aig_upstream_failed"]);
  });
}

test("the provider gets the same request with new framing", async (t) => {
  const texts: string[] = [];
  const port = await rawProvider(t, (socket, text) => {
    texts.push(text);
    socket.write(WHOLE);
  });
  const pool = poolTo(t, `http://provider.test:${port}`);
  await ask(pool, { method: "GET", target: "/v1/models?limit=1" }).done;
  await ask(pool).done;
  await ask(pool, { headers: ["x-a", "\xe9"], body: { kind: "whole", bytes: Buffer.from('{"a":"\u20ac"}') } }).done;
  assert.deepEqual(texts, [
    `GET /v1/models?limit=1 HTTP/1.1\r\nhost: provider.test:${port}\r\naccept: */*\r\n\r\n`,
    `POST /v1/chat HTTP/1.1\r\nhost: provider.test:${port}\r\naccept: */*\r\ncontent-length: 0\r\n\r\n`,
    `POST /v1/chat HTTP/1.1\r\nhost: provider.test:${port}\r\nx-a: \xe9\r\ncontent-length: 11\r\n\r\n{"a":"\xe2\x82\xac"}`,
  ]);
});

test("a request with an invalid method, target or field is not sent", async (t) => {
  let asked = 0;
  const pool = poolTo(t, `http://provider.test:${await rawProvider(t, () => void asked++)}`);
  const bad = [
    { headers: ["x-key", "a\r\nx-b: c"] },
    { headers: ["x key", "a"] },
    { headers: ["x-key", "\u20ac"] },
    { target: "/a b" },
    { method: "A B" },
  ];
  for (const request of bad) assert.equal((await ask(pool, request).done).failure, "aig_upstream_failed");
  assert.equal(asked, 0);
});

test("the chunks of one read become one buffer, and trailers and interim responses are ignored", async (t) => {
  const port = await rawProvider(t, (socket) => {
    socket.write(
      "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n3\r\nabc\r\n3;x=y\r\ndef\r\n0\r\nx-t: 1\r\n\r\n",
    );
  });
  const { status, headers, body, pieces } = await ask(poolTo(t, `http://provider.test:${port}`)).done;
  assert.deepEqual([status, body, pieces, headers["set-cookie"]], [200, "abcdef", 1, ["a=1", "b=2"]]);
});

test("ambiguous and truncated responses fail", async (t) => {
  const answers = [
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\ncontent-length: 2\n\nok",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "SSH-2.0-x\r\n",
  ];
  let at = 0;
  const port = await rawProvider(t, (socket) => socket.end(answers[at] ?? ""));
  const pool = poolTo(t, `http://provider.test:${port}`);
  for (; at < answers.length; at++) assert.equal((await ask(pool).done).failure, "aig_upstream_failed", answers[at]);
});

test("a response without a length ends with its connection", async (t) => {
  const port = await rawProvider(t, (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nall of it"));
  const { body, failure } = await ask(poolTo(t, `http://provider.test:${port}`)).done;
  assert.deepEqual([body, failure], ["all of it", ""]);
});

test("a streamed body without a length is chunked, and a truncated one never looks complete", async (t) => {
  let text = "";
  const port = await rawProvider(t, (socket, more) => {
    text += more;
    if (text.endsWith("0\r\n\r\n")) socket.write(WHOLE);
  });
  const pool = poolTo(t, `http://provider.test:${port}`);
  const streamOf = (pieces: () => AsyncGenerator<Buffer>, length?: string): ReadyBody => ({
    kind: "stream",
    head: Buffer.alloc(0),
    length,
    stream: { bytes: 0, [Symbol.asyncIterator]: pieces },
  });
  const whole = streamOf(async function* () {
    yield Buffer.from("abc");
    yield Buffer.from("defg");
  });
  assert.equal((await ask(pool, { body: whole }).done).body, "ok");
  assert.ok(text.endsWith("transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"), text);
  text = "";
  const broken = streamOf(async function* () {
    yield Buffer.from("abc");
    throw new Error("the client left");
  });
  assert.equal((await ask(pool, { body: broken }).done).failure, "aig_upstream_failed");
  assert.ok(!text.includes("0\r\n\r\n"));
});

test("requests above the connection limit wait, and one that leaves the queue is not sent", async (t) => {
  const asked: Socket[] = [];
  const port = await rawProvider(t, (socket) => void asked.push(socket));
  const pool = poolTo(t, `http://provider.test:${port}`, { upstreamConnectionsMax: 1 });
  const [first, second, third] = [ask(pool), ask(pool), ask(pool)];
  second.call.abort();
  await eventually(() => asked.length >= 1);
  asked[0]?.write(WHOLE);
  assert.equal((await first.done).body, "ok");
  await eventually(() => asked.length >= 2);
  asked[1]?.write(WHOLE);
  assert.equal((await third.done).body, "ok");
  assert.equal(asked.length, 2);
});

test("the gateway's own requests have a timeout and a size limit", async (t) => {
  const port = await rawProvider(t, (socket, text) => {
    if (text.includes("/long")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n" + "x".repeat(100));
    else if (text.includes("/short")) socket.write(WHOLE);
  });
  const pool = poolTo(t, `http://provider.test:${port}`);
  const request = (target: string) => ({ method: "POST", target, headers: [], body: "{}" });
  const bounds = { timeoutMs: 50, answerBytesMax: 50 };
  const { status, text } = await fetchBuffered(pool, request("/short"), { ...bounds, timeoutMs: 60_000 });
  assert.deepEqual([status, text], [200, "ok"]);
  await assert.rejects(fetchBuffered(pool, request("/long"), { ...bounds, timeoutMs: 60_000 }), /too long/);
  await assert.rejects(fetchBuffered(pool, request("/silent"), bounds), /50 ms/);
});

test("over TLS a provider needs a trusted certificate for its name, and sessions are resumed", async (t) => {
  const root = await createRoot(systemClock);
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, root.certificate]);
  t.after(() => setDefaultCACertificates(before));
  const issuers = [root, await createRoot(systemClock), root, root];
  const clocks = [systemClock, systemClock, systemClock, fixedClock("2020-01-01T00:00:00Z")];
  const names = ["provider.test", "provider.test", "other.test", "provider.test"];
  const outcomes: string[] = [];
  const resumed: boolean[] = [];
  for (const [i, name] of names.entries()) {
    const { chain, privateKey } = await createLocalCa({ root: issuers[i]!, clock: clocks[i]! }).issue([name]);
    const server = createTlsServer({ cert: chain, key: privateKey }, (req, res) => {
      resumed.push((req.socket as TLSSocket).isSessionReused());
      res.writeHead(200, { connection: "close" }).end("ok");
    });
    const pool = poolTo(t, `https://provider.test:${await listening(t, server)}`);
    // Twice: the session kept from the first connection must not make the second one less strict.
    for (let time = 0; time < 2; time++) {
      const { failure, body } = await ask(pool).done;
      outcomes.push(failure === "" ? body : failure);
    }
  }
  const failed = "aig_upstream_failed";
  assert.deepEqual(outcomes, ["ok", "ok", failed, failed, failed, failed, failed, failed]);
  assert.deepEqual(resumed, [false, true]);
});
