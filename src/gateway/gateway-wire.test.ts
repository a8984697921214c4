import { test, type TestContext } from "node:test";
import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer, request } from "node:http";
import { type AddressInfo, type Socket, connect, createServer as createTcpServer } from "node:net";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { GATEWAY_LIMITS, type GatewayLimits } from "./config.ts";
import { createGateway } from "./gateway.ts";
import { eventually } from "../../test/support/eventually.ts";

const ACCOUNT = "a".repeat(32);
const CHAT = JSON.stringify({ model: "gpt-4o-mini", messages: [] });

interface Front {
  readonly port: number;
  readonly path: string;
  readonly rows: GatewayLogRow[];
  readonly value: (metric: string) => number;
  readonly close: (timeoutMs: number) => Promise<void>;
}

async function front(t: TestContext, providerPort: number, limits: Partial<GatewayLimits> = {}): Promise<Front> {
  const rows: GatewayLogRow[] = [];
  const metrics = createMetrics();
  const gateway = createGateway({
    replica: createMemoryReplica([
      { kind: "gateway", id: `${ACCOUNT}/gw`, value: { account_id: ACCOUNT, gateway_id: "gw", authentication: false, collect_logs: true } },
    ]),
    events: { push: (table, row) => void (table === "gateway_logs" && rows.push(row as GatewayLogRow)) },
    clock: systemClock,
    metrics,
    config: {
      host: "127.0.0.1",
      port: 0,
      vendorPrefix: "svc",
      providers: { openai: `http://127.0.0.1:${providerPort}/v1` },
      limits: { ...GATEWAY_LIMITS, ...limits },
    },
  });
  const { port } = await gateway.listen();
  t.after(() => gateway.close(100));
  const value = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((sum, sample) => sum + sample.value, 0);
  return { port, path: `/v1/${ACCOUNT}/gw/openai/chat/completions`, rows, value, close: (timeoutMs) => gateway.close(timeoutMs) };
}

async function provider(t: TestContext, answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A provider that sends arbitrary bytes. */
async function rawProvider(t: TestContext, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Everything that the gateway answers to these bytes, until it closes the connection. */
function exchange(port: number, bytes: string): Promise<{ text: string; reset: boolean }> {
  return new Promise((resolve) => {
    let text = "";
    let reset = false;
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", () => (reset = true));
    socket.on("close", () => resolve({ text, reset }));
  });
}

const post = (path: string, body = CHAT, extra = "connection: close\r\n", version = "1.1"): string =>
  `POST ${path} HTTP/${version}\r\nhost: gateway\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${extra}\r\n${body}`;

test("invalid requests get a clear response, leave no row and open no connection", async (t) => {
  let asked = 0;
  const { port, path, rows } = await front(t, await provider(t, (_req, res) => void (asked++, res.end())));
  const bad: readonly (readonly [string, RegExp])[] = [
    ["nonsense\r\n\r\n", /^HTTP\/1\.1 400 .*"internalCode":2900/s],
    [`POST ${path} HTTP/1.1\r\nhost: g\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`POST ${path} HTTP/1.1\r\nhost: g\r\ncontent-length: -1\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`POST ${path} HTTP/1.1\r\nhost: g\r\nbad header: x\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`POST ${path} HTTP/1.1\r\nhost: g\r\nx: ${"y".repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 4\d\d /],
    [post(path.replace("chat", "%2e%2e")), /^HTTP\/1\.1 400 .*"internalCode":2900/s],
    [post("*"), /^HTTP\/1\.1 400 /],
    [post(path).replace("host: gateway\r\n", ""), /^HTTP\/1\.1 400 .*"internalCode":2900/s],
    [post(path, CHAT, "connection: close\r\nexpect: miracles\r\n"), /^HTTP\/1\.1 400 .*"internalCode":2900/s],
    [post(path, "{not json"), /^HTTP\/1\.1 400 .*"internalCode":2019/s],
  ];
  for (const [bytes, expected] of bad) assert.match((await exchange(port, bytes)).text, expected, bytes.slice(0, 80));
  assert.deepEqual([rows.length, asked], [0, 0]);
  assert.match((await exchange(port, post(path))).text, /^HTTP\/1\.1 200 /, "the gateway still serves");
});

test("the provider gets path, query, credential and body as sent, and no hop-by-hop field", async (t) => {
  let seen: { url: string | undefined; headers: IncomingMessage["headers"]; body: string } | undefined;
  const { port, path } = await front(
    t,
    await provider(t, (req, res) => {
      let body = "";
      req
        .on("data", (chunk) => (body += chunk))
        .on("end", () => {
          seen = { url: req.url, headers: req.headers, body };
          res
            .writeHead(201, {
              "content-type": "application/json",
              connection: "close, x-secret",
              "x-secret": "1",
              "x-kept": "2",
              "svc-aig-log-id": "forged",
            })
            .end("{}");
        });
    }),
  );
  const { text } = await exchange(
    port,
    post(
      `${path}?a=%20b`,
      CHAT,
      "authorization: Bearer provider-key\r\nconnection: close, x-hop\r\nx-hop: 1\r\nte: trailers\r\naccept-encoding: br\r\n",
    ),
  );
  assert.equal(seen?.url, "/v1/chat/completions?a=%20b");
  assert.equal(seen.body, CHAT);
  assert.equal(seen.headers.authorization, "Bearer provider-key");
  assert.equal(seen.headers["accept-encoding"], "identity");
  assert.deepEqual([seen.headers["x-hop"], seen.headers.te, seen.headers["transfer-encoding"]], [undefined, undefined, undefined]);
  assert.match(text, /^HTTP\/1\.1 201 /);
  assert.match(text, /x-kept: 2/);
  assert.doesNotMatch(text, /x-secret|forged/);
});

test("a truncated response fails or is cut, with every framing", async (t) => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["nothing at all", "", /^HTTP\/1\.1 502 .*"internalCode":2902/s],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent-", /^HTTP\/1\.1 502 /],
    ["a small body with a length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", /^HTTP\/1\.1 502 /],
    [
      "a large body with a length",
      "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nabc",
      /^HTTP\/1\.1 200 .*content-length: 100000.*abc$/s,
    ],
    [
      "chunks",
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
      /^HTTP\/1\.1 200 (?!.*\r\n0\r\n\r\n$)/s,
    ],
    ["bytes that are not HTTP", "SSH-2.0-x\r\n\r\n", /^HTTP\/1\.1 502 /],
  ];
  for (const [name, bytes, expected] of cases) {
    const { port, path, rows } = await front(t, await rawProvider(t, (socket) => void socket.end(bytes)));
    const { text } = await exchange(port, post(path));
    assert.match(text, expected, name);
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.success, false, name);
  }
});

test("an HTTP/1.0 client gets a reset for a truncated response, because it knows the end only by the close", async (t) => {
  const { port, path } = await front(
    t,
    await rawProvider(t, (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
      setTimeout(() => socket.destroy(), 50);
    }),
  );
  assert.equal((await exchange(port, post(path, CHAT, "", "1.0"))).reset, true);
});

test("an unreachable provider and one that times out give different errors", async (t) => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port: deadPort } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const dead = await front(t, deadPort);
  assert.match((await exchange(dead.port, post(dead.path))).text, /^HTTP\/1\.1 502 .*svc-aig-log-id: [0-9A-Z]{26}.*"internalCode":2902/s);
  assert.deepEqual([dead.rows.length, dead.rows[0]?.status_code], [1, 502]);
  const silent = await front(t, await rawProvider(t, () => undefined), { firstByteTimeoutMs: 100 });
  assert.match((await exchange(silent.port, post(silent.path))).text, /^HTTP\/1\.1 504 .*"internalCode":2903/s);
  assert.deepEqual([silent.rows.length, silent.rows[0]?.status_code], [1, 504]);
});

test("a client that disconnects ends the provider's request, before and during the response", async (t) => {
  for (const bytes of ["", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"]) {
    let ended = false;
    let asked = false;
    const providerPort = await rawProvider(t, (socket) => {
      asked = true;
      socket.on("close", () => (ended = true));
      if (bytes !== "") socket.write(bytes);
    });
    const { port, path, rows } = await front(t, providerPort);
    const socket = connect(port, "127.0.0.1", () => socket.write(post(path)));
    socket.on("error", () => undefined);
    if (bytes === "") await eventually(() => asked);
    else await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await eventually(() => ended && rows.length === 1);
    assert.deepEqual([rows[0]?.success, rows[0]?.status_code], [false, bytes === "" ? 499 : 200]);
  }
});

test("a client that disconnects while sending its body leaves no row, because nothing was accepted", async (t) => {
  let asked = 0;
  const { port, path, rows, value } = await front(t, await provider(t, (_req, res) => void (asked++, res.end())));
  const socket = connect(port, "127.0.0.1", () => socket.write(post(path).slice(0, -10)));
  await eventually(() => value("selvedge_gateway_buffered_request_bytes") > 0);
  socket.destroy();
  await eventually(() => value("selvedge_gateway_active_requests") === 0);
  assert.deepEqual([rows.length, asked, value("selvedge_gateway_buffered_request_bytes")], [0, 0, 0]);
});

test("a large body is streamed completely, and one above the limit is refused", async (t) => {
  const sizes: number[] = [];
  const providerPort = await provider(t, (req, res) => {
    let size = 0;
    req
      .on("data", (chunk: Buffer) => (size += chunk.length))
      .on("end", () => {
        sizes.push(size);
        res.end("{}");
      });
    req.on("error", () => undefined);
  });
  const { port, path, rows, value } = await front(t, providerPort, { requestBufferBytes: 64 * 1024, requestBytesMax: 1024 * 1024 });
  const body = JSON.stringify({ model: "big", messages: ["x".repeat(900_000)] });
  const send = (bytes: string, chunked: boolean): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        ...(chunked ? { "transfer-encoding": "chunked" } : { "content-length": bytes.length }),
      };
      const req = request({ port, path, method: "POST", headers, agent: false }, (res) => {
        let text = "";
        res
          .on("data", (chunk) => (text += chunk))
          .on("end", () => resolve({ status: res.statusCode ?? 0, text }))
          .on("error", reject);
      });
      req.on("error", reject);
      req.end(bytes);
    });
  assert.equal((await send(body, false)).status, 200);
  assert.equal((await send(body, true)).status, 200);
  assert.deepEqual(sizes, [body.length, body.length]);
  assert.deepEqual(
    rows.map((row) => [row.model, row.success, row.request_bytes]),
    [
      ["big", true, body.length],
      ["big", true, body.length],
    ],
  );
  const declared = await exchange(
    port,
    `POST ${path} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\ncontent-length: 9999999\r\n\r\n{`,
  );
  assert.match(declared.text, /^HTTP\/1\.1 413 .*"internalCode":2901/s);
  assert.equal(rows.length, 2);
  await send(JSON.stringify({ model: "huge", messages: ["x".repeat(3_000_000)] }), true).then(
    ({ status }) => assert.equal(status, 413),
    () => undefined,
  );
  await eventually(() => rows.length === 3);
  assert.deepEqual([rows[2]?.status_code, rows[2]?.success, sizes.length], [413, false, 2]);
  await eventually(() => value("selvedge_gateway_buffered_request_bytes") === 0);
});

test("a slow client slows the provider down instead of filling memory", async (t) => {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const TOTAL = 400;
  let written = 0;
  const providerPort = await provider(t, (_req, res) => {
    res.writeHead(200, { "content-type": "text/plain" });
    const pump = (): void => {
      while (written < TOTAL) {
        written++;
        if (!res.write(chunk)) return void res.once("drain", pump);
      }
      res.end();
    };
    pump();
  });
  const { port, path, rows } = await front(t, providerPort);
  const socket = connect(port, "127.0.0.1", () => socket.write(post(path)));
  await new Promise((resolve) => socket.once("readable", resolve));
  let before = -1;
  while (written !== before) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(written < TOTAL, `the provider stands still at ${written} of ${TOTAL}`);
  let size = 0;
  for await (const part of socket) size += (part as Buffer).length;
  assert.ok(size > TOTAL * chunk.length);
  await eventually(() => rows.length === 1);
  assert.deepEqual([rows[0]?.success, rows[0]?.response_bytes], [true, TOTAL * chunk.length]);
});

test("provider errors, 1xx and responses without a body pass unchanged", async (t) => {
  for (const [bytes, expected] of [
    ["HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\n{}", /^HTTP\/1\.1 429 .*retry-after: 7.*\{\}$/s],
    ["HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", /^HTTP\/1\.1 200 .*\{\}$/s],
    ["HTTP/1.1 204 No Content\r\n\r\n", /^HTTP\/1\.1 204 /],
    ["HTTP/1.1 304 Not Modified\r\n\r\n", /^HTTP\/1\.1 304 /],
  ] as const) {
    const { port, path, rows } = await front(t, await rawProvider(t, (socket) => void socket.write(bytes)));
    assert.match((await exchange(port, post(path))).text, expected);
    await eventually(() => rows.length === 1);
  }
});

test("closing completes active requests and refuses new connections", async (t) => {
  let finish: (() => void) | undefined;
  const { port, path, close, rows } = await front(t, await provider(t, (_req, res) => void (finish = () => res.end("{}"))));
  const answer = exchange(port, post(path, CHAT, ""));
  await eventually(() => finish !== undefined);
  // Longer than the test's own time limit, so that only the closing of idle connections can end it.
  const closed = close(1_000_000);
  await assert.rejects(new Promise((resolve, reject) => connect(port, "127.0.0.1").on("connect", resolve).on("error", reject)));
  finish?.();
  assert.match((await answer).text, /^HTTP\/1\.1 200 /);
  await closed;
  assert.deepEqual([rows.length, rows[0]?.success], [1, true]);
});

test("a request that does not finish in time is cut at the end of the drain", async (t) => {
  let asked = false;
  const { port, path, close, rows } = await front(t, await provider(t, () => void (asked = true)));
  const answer = exchange(port, post(path));
  await eventually(() => asked);
  await close(50);
  assert.equal((await answer).text, "");
  assert.deepEqual([rows.length, rows[0]?.success], [1, false]);
});

test("above its limit of concurrent requests the gateway answers 503", async (t) => {
  let asked = 0;
  const { port, path } = await front(t, await provider(t, () => void asked++), { requestsMax: 1 });
  const socket = connect(port, "127.0.0.1", () => socket.write(post(path)));
  socket.on("error", () => undefined);
  await eventually(() => asked === 1);
  assert.match((await exchange(port, post(path))).text, /^HTTP\/1\.1 503 .*retry-after: 1.*"internalCode":2904/s);
  socket.destroy();
});
