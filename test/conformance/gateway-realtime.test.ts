import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { Op } from "#snapshot/entries.ts";
import {
  answerChat,
  type FrontOptions,
  GATEWAY_ACCOUNT,
  gatewayFront,
  type GatewayFront,
  gatewayOp,
  gatewayTokenOp,
  TEST_CHAT,
  testProvider,
} from "../support/gateway-front.ts";
import { eventually } from "../support/eventually.ts";

const TOKEN = "gateway-token-of-forty-characters-length";

interface Stage extends GatewayFront {
  readonly provider: WebSocketServer;
  readonly seen: IncomingMessage[];
  /** `ws://…/v1/{account_id}/gw/openai?model=gpt-realtime` */
  readonly url: string;
}

/** A provider that says what it hears, and tells counts when it is asked for an answer. */
async function stage(t: TestContext, ops: readonly Op[] = [], deps: FrontOptions["deps"] = {}): Promise<Stage> {
  const provider = new WebSocketServer({
    port: 0,
    host: "127.0.0.1",
    handleProtocols: (offered) => (offered.has("realtime") ? "realtime" : false),
  });
  await once(provider, "listening");
  const seen: IncomingMessage[] = [];
  provider.on("connection", (socket, req) => {
    seen.push(req);
    socket.on("message", (data, isBinary) => {
      const text = isBinary ? "" : String(data);
      if (text === "bye") return socket.close(4001, "enough");
      if (text !== "answer") return socket.send(data, { binary: isBinary });
      const usage = { input_tokens: 7, output_tokens: 5, total_tokens: 12 };
      for (const piece of [false, true])
        socket.send(piece ? '"response.done","response":{"usage":' + JSON.stringify(usage) + "}}" : '{"type":', { fin: piece });
    });
  });
  t.after(() => {
    for (const socket of provider.clients) socket.terminate();
    provider.close();
  });
  const front = await gatewayFront(t, {
    ops: [gatewayOp("gw", { authentication: true }), gatewayOp("open"), gatewayTokenOp(TOKEN), ...ops],
    deps,
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` },
  });
  return { ...front, provider, seen, url: `${front.base.replace("http", "ws")}/gw/openai?model=gpt-realtime` };
}

const opened = async (socket: WebSocket): Promise<WebSocket> => {
  await once(socket, "open");
  return socket;
};
const refusal = async (socket: WebSocket): Promise<{ status: number | undefined; code: unknown }> => {
  const [, res] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  let body = "";
  for await (const chunk of res) body += chunk;
  return { status: res.statusCode, code: JSON.parse(body).error?.[0]?.code ?? body };
};
const authorized = { headers: { "svc-aig-authorization": `Bearer ${TOKEN}`, authorization: "Bearer provider-key" } };

describe("realtime sessions over WebSockets", () => {
  test("messages pass in both directions, and the row with their cost is written at the end", async (t) => {
    const { url, seen, rows, provider } = await stage(t);
    const socket = await opened(new WebSocket(url, authorized));
    for (const message of ["hello", "x".repeat(300_000)]) {
      socket.send(message);
      const [data] = await once(socket, "message");
      assert.equal(String(data), message);
    }
    socket.send(Buffer.from([1, 2, 3]));
    assert.deepEqual((await once(socket, "message"))[0], Buffer.from([1, 2, 3]));
    for (let i = 0; i < 2; i++) {
      socket.send("answer");
      await once(socket, "message");
    }
    assert.equal(rows.length, 0, "no row before the end");
    socket.close(1000);
    await once(socket, "close");
    await eventually(() => rows.length === 1);
    const { path, model, status_code, success, tokens_in, tokens_out, request_bytes, response_bytes } = rows[0]!;
    assert.deepEqual([path, model, status_code, success, tokens_in, tokens_out], ["/realtime", "gpt-realtime", 101, true, 14, 10]);
    assert.ok(request_bytes > 300_000 && response_bytes > 300_000);
    assert.equal(seen[0]?.url, "/v1/realtime?model=gpt-realtime");
    assert.equal(seen[0]?.headers.authorization, "Bearer provider-key");
    assert.ok(!JSON.stringify(seen[0]?.rawHeaders).includes(TOKEN), "the gateway's token stays here");
    assert.equal(provider.clients.size, 0);
  });

  test("a stored key replaces the client's key, and a browser that sends its own keeps it", async (t) => {
    const sealer = createSealer(Buffer.alloc(32, 7));
    const secret = sealer.seal("sk-kept", "provider-key:k");
    const owner = { account_id: GATEWAY_ACCOUNT, gateway_id: "gw", provider: "openai", alias: "default", is_default: true };
    const { url, seen } = await stage(t, [{ kind: "provider_key", id: "k", value: { ...owner, secret } }], { sealer });
    const token = { "svc-aig-authorization": `Bearer ${TOKEN}` };
    (await opened(new WebSocket(url, { headers: token }))).close();
    (await opened(new WebSocket(url, ["realtime", "openai-insecure-api-key.own"], { headers: token }))).close();
    assert.deepEqual(
      seen.map(({ headers }) => headers.authorization),
      ["Bearer sk-kept", undefined],
    );
  });

  test("the gateway masks a stored key in the provider's messages, across fragments and messages too, and holds none for long", async (t) => {
    const sealer = createSealer(Buffer.alloc(32, 7));
    const KEY = "sk-kept-0123456789s";
    const owner = { account_id: GATEWAY_ACCOUNT, gateway_id: "gw", provider: "openai", alias: "default", is_default: true };
    const entry = { ...owner, secret: sealer.seal(KEY, "provider-key:k") };
    const { url, provider } = await stage(t, [{ kind: "provider_key", id: "k", value: entry }], { sealer });
    provider.on("headers", (headers: string[], req: IncomingMessage) => headers.push(`x-key: ${req.headers.authorization}`));
    const socket = new WebSocket(url, { headers: { "svc-aig-authorization": `Bearer ${TOKEN}` } });
    const [handshake] = (await once(socket, "upgrade")) as [IncomingMessage];
    assert.equal(handshake.headers["x-key"], `Bearer ${"*".repeat(19)}`);
    for (const [said, heard] of [
      ["yes", "yes"],
      [`a ${KEY} b`, `a ${"*".repeat(19)} b`],
      [KEY.slice(0, 7), KEY.slice(0, 7)],
      [KEY.slice(0, 9), "*".repeat(9)],
      [Buffer.from(KEY).toString("base64"), "*".repeat(25)],
    ] as const) {
      socket.send(said);
      const [data] = await once(socket, "message");
      assert.ok(String(data).startsWith(heard), `${String(data)} for ${said}`);
    }
    for (const peer of provider.clients) {
      peer.send("x".repeat(70_000) + KEY.slice(0, 9), { fin: false });
      peer.send(KEY.slice(9));
    }
    const [long] = await once(socket, "message");
    assert.equal(String(long).length, 70_019);
    const heard: string[] = [];
    socket.on("message", (data) => heard.push(JSON.parse(String(data)).delta));
    for (const piece of [KEY.slice(0, 5), KEY.slice(5, 12), `${KEY.slice(12)} end`])
      socket.send(JSON.stringify({ type: "response.output_text.delta", delta: piece }));
    await eventually(() => heard.length === 3);
    assert.equal(heard.join(""), `${"*".repeat(19)} end`);
    socket.close();
  });

  test("each response of a session counts as a request, and the one above the rate limit is the last", async (t) => {
    const { base, rows } = await stage(t, [gatewayOp("rated", { rate_limit: { limit: 2, interval_seconds: 60, technique: "fixed" } })]);
    const socket = await opened(new WebSocket(`${base.replace("http", "ws")}/rated/openai?model=gpt-realtime`, authorized));
    const closed = once(socket, "close");
    for (let i = 0; i < 3; i++) {
      socket.send("answer");
      await once(socket, "message");
    }
    assert.equal((await closed)[0], 1008);
    const { status } = await refusal(new WebSocket(`${base.replace("http", "ws")}/rated/openai?model=gpt-realtime`, authorized));
    assert.equal(status, 429);
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.tokens_out, 15);
  });

  test("the response that reaches a spend limit ends the session, and no new session starts", async (t) => {
    const rule = { id: "each", limit: 0.0003, window_seconds: 3600, technique: "fixed" as const };
    const { base, rows, provider } = await stage(t, [gatewayOp("limited", { spend_rules: [rule] })]);
    const url = `${base.replace("http", "ws")}/limited/openai?model=gpt-realtime`;
    const cost = { "svc-aig-custom-cost": JSON.stringify({ per_token_in: 0.00001, per_token_out: 0.00001 }) };
    const socket = await opened(new WebSocket(url, { headers: cost }));
    const closed = once(socket, "close");
    // Each answer has 12 tokens; the third one goes above the limit.
    for (let i = 0; i < 3; i++) {
      socket.send("answer");
      await once(socket, "message");
    }
    const [code, reason] = (await closed) as [number, Buffer];
    assert.deepEqual([code, String(reason).slice(0, 36)], [1008, "Spend limit exceeded: rule 'each' (c"]);
    await eventually(() => rows.length === 1 && provider.clients.size === 0);
    assert.deepEqual([rows[0]?.tokens_in, rows[0]?.tokens_out, rows[0]?.cost?.toFixed(6)], [21, 15, "0.000360"]);
    assert.deepEqual(await refusal(new WebSocket(url, { headers: cost })), { status: 429, code: 2045 });
    await eventually(() => rows.length === 2);
    assert.deepEqual([rows[1]?.status_code, rows[1]?.success, rows[1]?.cost], [429, false, null]);
  });

  test("a browser sends its token as a subprotocol, and the provider never sees it", async (t) => {
    const { url, seen } = await stage(t);
    for (const name of ["svc", "cf"]) {
      const socket = await opened(new WebSocket(url, ["realtime", "openai-insecure-api-key.k", `${name}-aig-authorization.${TOKEN}`]));
      assert.equal(socket.protocol, "realtime");
      socket.close();
      assert.equal(seen.at(-1)?.headers["sec-websocket-protocol"], "realtime,openai-insecure-api-key.k".replace(",", ", "));
    }
    const alone = await opened(new WebSocket(url, [`svc-aig-authorization.${TOKEN}`]));
    assert.equal(alone.protocol, `svc-aig-authorization.${TOKEN}`, "one of the offers must be taken");
    alone.close();
  });

  test("the client gets the provider's close code", async (t) => {
    const { url, rows } = await stage(t);
    const socket = await opened(new WebSocket(url, authorized));
    socket.send("bye");
    const [code, reason] = await once(socket, "close");
    assert.deepEqual([code, String(reason)], [4001, "enough"]);
    await eventually(() => rows.length === 1);
    assert.equal(rows[0]?.success, true);
  });

  test("without a valid token the gateway opens no connection to the provider and writes no row", async (t) => {
    const { url, seen, rows } = await stage(t);
    assert.deepEqual(await refusal(new WebSocket(url)), { status: 401, code: 2009 });
    assert.deepEqual(await refusal(new WebSocket(url, ["svc-aig-authorization.wrong"])), { status: 401, code: 2009 });
    assert.deepEqual(await refusal(new WebSocket(url.replace("/gw/", "/none/"), authorized)), { status: 400, code: 2001 });
    assert.deepEqual(await refusal(new WebSocket(url.replace("/openai", "/nobody"), authorized)), { status: 400, code: 2008 });
    assert.deepEqual([seen.length, rows.length], [0, 0]);
  });

  test("the client sees why a provider refused or could not be reached, and a row is written", async (t) => {
    const provider = await testProvider(t, (res) => res.writeHead(429, { "content-type": "text/plain" }).end("too many sessions"));
    const front = await gatewayFront(t, { providers: { openai: `${provider.url}/v1`, groq: "http://127.0.0.1:1/v1" } });
    const ws = front.base.replace("http", "ws");
    const refused = new WebSocket(`${ws}/gw/openai?model=m`);
    const [, res] = (await once(refused, "unexpected-response")) as [unknown, IncomingMessage];
    assert.equal(res.statusCode, 429);
    res.resume();
    assert.deepEqual(await refusal(new WebSocket(`${ws}/gw/groq/realtime`)), { status: 502, code: 2902 });
    await eventually(() => front.rows.length === 2);
    assert.deepEqual(
      front.rows.map((row) => [row.status_code, row.success]),
      [
        [429, false],
        [502, false],
      ],
    );
  });

  test("a client that drops its connection ends the provider's session", async (t) => {
    const { url, rows, provider, metric } = await stage(t);
    const socket = await opened(new WebSocket(url, authorized));
    socket.terminate();
    await eventually(() => rows.length === 1 && provider.clients.size === 0);
    assert.deepEqual([metric("selvedge_gateway_active_requests"), rows[0]?.success], [0, false]);
  });

  test("the gateway ignores an offer to upgrade to HTTP/2, which some clients add to each request", async (t) => {
    const mocked = await testProvider(t, (res) => answerChat(res, "Hi."));
    const front = await gatewayFront(t, { providers: { openai: `${mocked.url}/v1` } });
    const headers = {
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "http2-settings": "AAMAAABk",
      "content-type": "application/json",
    };
    const req = request(`${front.base}/gw/openai/chat/completions`, { method: "POST", headers });
    req.end(JSON.stringify(TEST_CHAT));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    assert.equal(res.statusCode, 200);
    res.resume();
  });

  test("a client that does not read slows the provider down", async (t) => {
    const { url, provider } = await stage(t);
    const socket = await opened(new WebSocket(url, authorized));
    const [peer] = provider.clients;
    assert.ok(peer !== undefined);
    socket.pause();
    const piece = Buffer.alloc(1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    let waiting = 0;
    for (let i = 0; i < 64; i++) {
      waiting++;
      peer.send(piece, {}, () => waiting--);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(waiting > 32, `${64 - waiting} MB were taken from the provider`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 100 * piece.length);
    socket.resume();
    let got = 0;
    while (got < 64) {
      await once(socket, "message");
      got++;
    }
    socket.close();
  });
});
