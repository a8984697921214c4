import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { FAILURES_PER_ADDRESS } from "#kernel/net/rate-limiter.ts";
import { eventually } from "../support/eventually.ts";
import {
  answerChat,
  type FrontOptions,
  GATEWAY_ACCOUNT,
  type GatewayFront,
  gatewayFront,
  gatewayOp,
  gatewayTokenOp,
  TEST_CHAT,
  testProvider,
  type TestProvider,
} from "../support/gateway-front.ts";
import { PREFACE } from "../support/http2-conversations.ts";
import { frame, FRAME, framesIn } from "../support/http2-frames.ts";
import { type Answer, answerOf } from "../support/secure-edge.ts";
import { gatewaySession, secureGateway } from "../support/secure-gateway.ts";
import { toolOrSkip } from "../support/tools.ts";

const run = promisify(execFile);
const SSE = { "content-type": "text/event-stream" };
const CHAT = `/v1/${GATEWAY_ACCOUNT}/gw/openai/chat/completions`;
const STREAM = { ...TEST_CHAT, stream: true };
const event = (content: string): string => `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const textOf = ({ body }: Answer): string => JSON.parse(body).choices[0].message.content;

interface Site extends GatewayFront {
  readonly provider: TestProvider;
  readonly session: ClientHttp2Session;
}

type Reply = Parameters<typeof testProvider>[1];
const hello: Reply = (res) => answerChat(res, "hello");

/** A gateway in front of a provider, and a connection to it that needs no TLS. */
async function site(t: TestContext, reply: Reply = hello, options: FrontOptions = {}): Promise<Site> {
  const provider = await testProvider(t, reply);
  const front = await gatewayFront(t, { providers: { openai: `${provider.url}/v1` }, ...options });
  return { ...front, provider, session: gatewaySession(t, front) };
}

const HEAD = { ":method": "POST", ":path": CHAT, "content-type": "application/json", authorization: "Bearer provider-key" };

function post(session: ClientHttp2Session, body: unknown, headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
  const stream = session.request({ ...HEAD, ...headers });
  stream.end(typeof body === "string" ? body : JSON.stringify(body));
  return stream;
}

const chat = (session: ClientHttp2Session, body: unknown = TEST_CHAT, headers = {}): Promise<Answer> =>
  answerOf(post(session, body, headers));

async function temporaryFiles(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-gateway-"));
  t.after(() => rm(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

describe("how a connection becomes HTTP/2", () => {
  test("by the preface without TLS, in chunks of any size, and HTTP/1.1 still works", async (t) => {
    const { port, session, base } = await site(t);
    const answer = await chat(session);
    assert.deepEqual([answer.status, textOf(answer), answer.headers["connection"], answer.code], [200, "hello", undefined, 0]);
    assert.equal((await fetch(`${base}/gw/openai/chat/completions`, { method: "POST", body: JSON.stringify(TEST_CHAT) })).status, 200);
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    for (const byte of Buffer.concat([PREFACE, frame(FRAME.SETTINGS, 0, 0)])) {
      socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const types = (): number[] => framesIn(Buffer.concat(chunks)).map(({ type, flags }) => (type === FRAME.SETTINGS ? type + flags : type));
    await eventually(() => types().includes(FRAME.SETTINGS + 1));
    assert.deepEqual(types(), [FRAME.SETTINGS, FRAME.WINDOW_UPDATE, FRAME.SETTINGS + 1]);
    socket.destroy();
  });

  test("by ALPN over TLS", async (t) => {
    const provider = await testProvider(t, hello);
    const front = await secureGateway(t, { providers: { openai: `${provider.url}/v1` } });
    const session = gatewaySession(t, front);
    assert.equal(textOf(await chat(session)), "hello");
    assert.equal(session.alpnProtocol, "h2");
  });

  test("but not after a request, nor as another HTTP/1.1 method", async (t) => {
    const { port } = await site(t);
    const told = async (bytes: string): Promise<string> => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket.setEncoding("latin1").on("data", (more: string) => (text += more));
      socket.write(bytes);
      await once(socket, "close");
      return text;
    };
    const first = "OPTIONS / HTTP/1.1\r\nhost: a\r\n\r\n";
    assert.match(await told(`${first}${PREFACE.toString()}`), /^HTTP\/1\.1 400 [^]*HTTP\/1\.1 400 [^]*connection: close/);
    for (const bytes of ["PRI / HTTP/2.0\r\n\r\n", "PRI * HTTP/2.0\r\nhost: a\r\n\r\n", "GET * HTTP/2.0\r\n\r\n", "PRI * HTTP/3.0\r\n\r\n"])
      assert.match(await told(bytes), /^HTTP\/1\.1 400 /, bytes);
  });
});

describe("requests and responses", () => {
  test("the client gets each event as it arrives", async (t) => {
    let provider: ServerResponse | undefined;
    const { session, rows } = await site(t, (res) => {
      provider = res;
      res.writeHead(200, SSE).write(event("one"));
    });
    const stream = post(session, STREAM);
    let text = "";
    stream.setEncoding("utf8").on("data", (more: string) => (text += more));
    await eventually(() => text === event("one"));
    provider?.write(event("two"));
    await eventually(() => text === event("one") + event("two"));
    provider?.end("data: [DONE]\n\n");
    await once(stream, "close");
    assert.deepEqual([text.endsWith("[DONE]\n\n"), stream.rstCode], [true, 0]);
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.status_code, rows[0]?.success], [200, true]);
  });

  test("a gateway that ends sends GOAWAY, finishes the streams that run, and takes no further ones", async (t) => {
    let provider: ServerResponse | undefined;
    const front = await site(t, (res) => {
      provider = res;
      res.writeHead(200, SSE).write(event("one"));
    });
    const { session } = front;
    const stream = post(session, STREAM);
    let text = "";
    stream.setEncoding("utf8").on("data", (more: string) => (text += more));
    await eventually(() => text === event("one"));
    const told = once(session, "goaway");
    const closed = front.close(60_000);
    const [code, lastStream] = (await told) as [number, number];
    assert.deepEqual([code, lastStream >= (stream.id ?? Infinity)], [constants.NGHTTP2_NO_ERROR, true]);
    provider?.write(event("two"));
    provider?.end("data: [DONE]\n\n");
    await once(stream, "close");
    assert.deepEqual([text, stream.rstCode], [`${event("one")}${event("two")}data: [DONE]\n\n`, 0]);
    await closed;
    assert.deepEqual(
      front.rows.map(({ success }) => success),
      [true],
    );
    await assert.rejects(once(connect(front.port, "127.0.0.1"), "connect"), /ECONNREFUSED/);
  });

  test("bodies of 1.2 MB, twice on one connection, with and without content-length", async (t) => {
    const { session, provider } = await site(t);
    const body = JSON.stringify({ ...TEST_CHAT, user: "0123456789".repeat(120_000) });
    for (const headers of [{}, { "content-length": String(body.length) }, {}])
      assert.equal(textOf(await chat(session, body, headers)), "hello");
    for (const seen of provider.seen) assert.ok(seen.body === body);
    assert.equal(provider.seen.length, 3);
  });

  test("100 streams in parallel, some of which the client resets", async (t) => {
    const { session, rows, provider, metric } = await site(t, (res, { body }, number) => {
      const { user } = JSON.parse(body);
      setTimeout(() => answerChat(res, `${user} ${"x".repeat(number * 1000)}`), number % 20);
    });
    const answers = Array.from({ length: 100 }, async (_, i) => {
      const stream = post(session, { ...TEST_CHAT, user: `user ${i}` });
      const answer = answerOf(stream);
      if (i % 5 === 0) stream.close(constants.NGHTTP2_CANCEL);
      const { status, body } = await answer;
      if (i % 5 !== 0) assert.ok(status === 200 && JSON.parse(body).choices[0].message.content.startsWith(`user ${i} `));
    });
    await Promise.all(answers);
    await eventually(() => metric("selvedge_gateway_active_requests") === 0 && rows.length === provider.seen.length);
    assert.ok(rows.filter(({ success }) => success).length >= 80);
    assert.equal(textOf(await chat(session, { ...TEST_CHAT, user: "last" })).slice(0, 4), "last");
  });

  test("a client that disconnects during a stream ends the provider's request, and the row says so", async (t) => {
    let left: Promise<unknown> | undefined;
    const { session, rows, metric } = await site(t, (res, { body }) => {
      if (JSON.parse(body).stream !== true) return answerChat(res, "other");
      left = once(res, "close");
      res.writeHead(200, SSE).write(event("one"));
    });
    const stream = post(session, STREAM);
    const answer = answerOf(stream);
    await once(stream, "data");
    stream.close(constants.NGHTTP2_CANCEL);
    await answer;
    await left;
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.status_code, rows[0]?.success, metric("selvedge_gateway_active_requests")], [200, false, 0]);
    // The connection is still good.
    assert.equal(textOf(await chat(session)), "other");
    const before = post(session, STREAM);
    before.on("error", () => undefined);
    await once(before, "data");
    session.destroy();
    await left;
    await eventually(() => rows.length === 3);
    assert.deepEqual([rows[2]?.success, metric("selvedge_gateway_active_requests")], [false, 0]);
  });

  test("a provider that disconnects resets its stream after the error event, and no other stream", async (t) => {
    const { session, rows } = await site(t, (res, { body }) => {
      if (JSON.parse(body).stream !== true) return answerChat(res, "other");
      res.writeHead(200, SSE).write(event("one"));
      setTimeout(() => res.destroy(), 20);
    });
    const answer = await chat(session, STREAM);
    assert.match(answer.body, /one[^]*\ndata: \{"error":\{"message":"The provider/);
    assert.equal(answer.code, constants.NGHTTP2_INTERNAL_ERROR);
    assert.equal(textOf(await chat(session)), "other");
    await eventually(() => rows.length === 2);
    assert.equal(rows[0]?.success, false);
  });

  test("a client that does not read slows its provider down, and gets all data later", async (t) => {
    const LENGTH = 20_000_000;
    let sent = 0;
    const { session } = await site(t, (res, { body }) => {
      if (JSON.parse(body).stream !== true) return answerChat(res, "other");
      res.writeHead(200, SSE);
      const piece = Buffer.from(event("x".repeat(9_900)));
      const more = (): void => {
        while (sent < LENGTH) {
          sent += piece.length;
          if (!res.write(piece)) return void res.once("drain", more);
        }
        res.end("data: [DONE]\n\n");
      };
      more();
    });
    await once(session, "connect");
    // Of the connection; that of the stream stays as it is.
    session.setLocalWindowSize(10_000_000);
    const stream = post(session, STREAM);
    await once(stream, "response");
    stream.pause();
    let before = -1;
    await eventually(() => {
      const isStill = sent === before && sent > 0;
      before = sent;
      return isStill;
    }, 300);
    assert.ok(sent < LENGTH / 2, `${sent} bytes`);
    // Neither are others of the connection held up.
    assert.equal(textOf(await chat(session)), "other");
    let got = 0;
    stream.on("data", (chunk: Buffer) => (got += chunk.length)).resume();
    await once(stream, "close");
    assert.deepEqual([got, stream.rstCode], [sent + "data: [DONE]\n\n".length, 0]);
  });

  test("a request with Expect gets 100 Continue, and a request refused early is not read to its end", async (t) => {
    const { session } = await site(t);
    const stream = session.request({ ...HEAD, expect: "100-continue" });
    const answer = answerOf(stream);
    await once(stream, "continue");
    stream.end(JSON.stringify(TEST_CHAT));
    assert.equal(textOf(await answer), "hello");
    const large = session.request({ ...HEAD, ":path": `/v1/${GATEWAY_ACCOUNT}/nowhere/openai/chat/completions` });
    const refused = answerOf(large);
    large.write(Buffer.alloc(100_000));
    await once(large, "response");
    large.end(Buffer.alloc(1_000_000));
    const { status } = await refused;
    assert.equal(status, 400);
    assert.equal(textOf(await chat(session)), "hello");
  });

  test("the gateway refuses over HTTP/2 the requests that it refuses over HTTP/1.1", async (t) => {
    const { session, port, metric } = await site(t);
    const refused = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await answerOf(session.request({ ...HEAD, ...headers }, { endStream: true }))).status;
    assert.deepEqual(
      [
        await refused({ ":path": "/nowhere" }),
        await refused({ ":path": `/v1/${"b".repeat(32)}/gw/openai/chat/completions` }),
        await refused({ "content-length": "5" }),
        await refused({ host: "other.example.com" }),
        await refused({ expect: "nothing" }),
        await refused({ "x-long": "a".repeat(40_000) }),
      ],
      [400, 400, 400, 400, 400, 400],
    );
    assert.equal(metric("selvedge_gateway_active_requests"), 0);
    assert.equal(session.remoteSettings.enableConnectProtocol, false);
    const tunnel = session.request({ ":method": "CONNECT", ":authority": `127.0.0.1:${port}` });
    tunnel.end();
    const socket = await answerOf(tunnel);
    assert.equal(socket.status, 400);
    const head = await answerOf(session.request({ ":method": "HEAD", ":path": "/nowhere" }));
    assert.deepEqual([head.status, head.body], [400, ""]);
    assert.ok(Number(head.headers["content-length"]) > 0);
  });
});

test("the limit on guessed tokens counts per address, across HTTP versions and connections", async (t) => {
  const ops = [gatewayOp("gw", { authentication: true }), gatewayTokenOp("right-token-0123456789")];
  const { session, port, base } = await site(t, hello, { ops });
  const guess = async (over: ClientHttp2Session, i: number): Promise<number> =>
    (await chat(over, TEST_CHAT, { "svc-aig-authorization": `Bearer guess${i}` })).status;
  const statuses = new Set<number>();
  for (let i = 0; i < FAILURES_PER_ADDRESS.requests; i++) statuses.add(await guess(session, i));
  assert.deepEqual([...statuses], [401]);
  assert.equal(await guess(session, -1), 429);
  assert.equal(await guess(gatewaySession(t, { port }), -2), 429);
  const headers = { "svc-aig-authorization": "Bearer guess-3" };
  const overHttp1 = await fetch(`${base}/gw/openai/chat/completions`, { method: "POST", body: JSON.stringify(TEST_CHAT), headers });
  assert.equal(overHttp1.status, 429);
  const right = { "svc-aig-authorization": `Bearer ${"right-token-0123456789"}` };
  assert.ok([200, 429].includes((await chat(session, TEST_CHAT, right)).status));
});

test("a trusted proxy names the client of each HTTP/2 request", async (t) => {
  const trustedProxies = { networks: ["127.0.0.0/8"], field: "x-forwarded-for" } as const;
  const ops = [gatewayOp("gw", { authentication: true })];
  const { session } = await site(t, hello, { ops, config: { trustedProxies } });
  const guess = async (client: string, i: number): Promise<number> =>
    (await chat(session, TEST_CHAT, { "svc-aig-authorization": `Bearer guess${i}`, "x-forwarded-for": client })).status;
  for (let i = 0; i < FAILURES_PER_ADDRESS.requests; i++) await guess("192.0.2.1", i);
  assert.deepEqual([await guess("192.0.2.1", -1), await guess("192.0.2.2", -2)], [429, 401]);
});

describe("third-party programs", () => {
  const url = ({ base }: GatewayFront): string => `${base}/gw/openai/chat/completions`;
  const data = JSON.stringify(TEST_CHAT);

  test("curl speaks HTTP/2 with prior knowledge, with a small and a large body", { skip: toolOrSkip("curl") }, async (t) => {
    const front = await site(t);
    const directory = await temporaryFiles(t, { body: JSON.stringify({ ...TEST_CHAT, user: "0123456789".repeat(120_000) }) });
    for (const body of [data, `@${directory}/body`]) {
      // One request each: curl 7.88 itself cannot use such a connection again.
      const args = ["-sS", "--http2-prior-knowledge", "--max-time", "60", "--data-binary", body, "-w", " %{http_version}"];
      assert.match((await run("curl", [...args, url(front)])).stdout, /"content":"hello".* 2$/);
    }
  });

  test("h2load loses no request", { skip: toolOrSkip("h2load") }, async (t) => {
    const front = await site(t);
    const directory = await temporaryFiles(t, { body: data });
    const { stdout } = await run("h2load", ["-n", "500", "-c", "2", "-m", "50", "-t", "1", "-d", `${directory}/body`, url(front)]);
    assert.match(stdout, /500 succeeded, 0 failed, 0 errored/);
  });
});
