import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { gatewayOp, gatewayTokenOp, TEST_CHAT } from "../support/gateway-front.ts";
import { eventually } from "../support/eventually.ts";
import { type MockedFront, mockedFront } from "../support/mock-provider.ts";

const TOKEN = "gateway-token-of-forty-characters-length";

interface Opened extends MockedFront {
  readonly socket: WebSocket;
  readonly messages: any[];
  /** Sends one step. */
  ask(step: object): void;
}

/** A WebSocket at the universal endpoint, over another author's client. */
async function opened(t: TestContext, options: Parameters<typeof mockedFront>[1] = {}): Promise<Opened> {
  const front = await mockedFront(t, options);
  const socket = new WebSocket(front.gateway.replace("http", "ws"), ["realtime", `cf-aig-authorization.${TOKEN}`]);
  t.after(() => socket.terminate());
  const messages: any[] = [];
  socket.on("message", (data) => messages.push(JSON.parse(String(data))));
  await once(socket, "open");
  const ask = (step: object): void => socket.send(JSON.stringify({ type: "universal.create", request: step }));
  return { ...front, socket, messages, ask };
}

const step = (content: string, more: object = {}): object => ({
  provider: "openai",
  endpoint: "chat/completions",
  headers: { Authorization: "Bearer provider-key", "Content-Type": "application/json" },
  query: { ...TEST_CHAT, messages: [{ role: "user", content }], ...more },
});

test("each message is a request with its own row, and the answer carries the response fields", async (t) => {
  const ops = [gatewayOp("gw", { authentication: true }), gatewayTokenOp(TOKEN)];
  const { socket, messages, ask, rows, mock } = await opened(t, { ops });
  assert.equal(socket.protocol, "realtime");
  ask({ eventId: "mine", ...step("hello") });
  await eventually(() => messages.length === 1);
  const [{ type, metadata, response }] = messages;
  assert.deepEqual(
    [type, metadata.eventId, metadata.step, metadata.cacheStatus, metadata.contentType],
    ["universal.created", "mine", "0", "MISS", "application/json"],
  );
  assert.equal(response.choices[0].message.content, "Hi there, how are you today?");
  assert.deepEqual([rows[0]?.id, rows[0]?.event_id, rows[0]?.tokens_out], [metadata.logId, "mine", 7]);
  ask(step("hello"));
  await eventually(() => rows.length === 2);
  const sent = JSON.stringify(mock.getRequests());
  assert.ok(!sent.includes(TOKEN) && !sent.includes("sec-websocket"));
});

test("several streams run in parallel, event by event, and a cut stream is never done", async (t) => {
  const { messages, ask, rows } = await opened(t);
  ask({ eventId: "whole", ...step("hello", { stream: true }) });
  ask({ eventId: "cut", ...step("break", { stream: true }) });
  await eventually(() => rows.length === 2 && messages.filter(({ type }) => type !== "universal.stream").length === 2);
  const of = (id: string): any[] => messages.filter(({ metadata }) => metadata.eventId === id);
  const text = of("whole")
    .filter(({ type }) => type === "universal.stream")
    .map(({ response }) => response.choices[0]?.delta.content ?? "")
    .join("");
  assert.deepEqual([text, of("whole").at(-1).type], ["Hi there, how are you today?", "universal.done"]);
  assert.ok(of("cut").length > 1);
  assert.equal(of("cut").at(-1).type, "universal.error");
  assert.deepEqual(new Set(rows.map(({ success }) => success)), new Set([true, false]));
});

test("errors of providers, errors of the gateway and invalid messages", async (t) => {
  const { messages, ask, socket } = await opened(t);
  ask(step("limited"));
  await eventually(() => messages.length === 1);
  assert.deepEqual([messages[0].type, messages[0].status], ["universal.error", 429]);
  ask({ ...step("hello"), provider: "none-such" });
  await eventually(() => messages.length === 2);
  assert.deepEqual([messages[1].status, messages[1].response.internalCode], [400, 2008]);
  socket.send("nonsense");
  await eventually(() => messages.length === 3);
  assert.deepEqual([messages[2].type, messages[2].status], ["universal.error", 400]);
  socket.ping("still there");
  assert.equal(String((await once(socket, "pong"))[0]), "still there");
  socket.send(Buffer.from("binary"), { binary: true });
  assert.equal((await once(socket, "close"))[0], 1003);
});

test("a client that disconnects ends its requests", async (t) => {
  const { messages, ask, socket, rows, metric } = await opened(t);
  ask(step("endless", { stream: true }));
  await eventually(() => messages.length > 2);
  socket.terminate();
  await eventually(() => rows.length === 1);
  assert.deepEqual([rows[0]?.success, metric("selvedge_gateway_active_requests")], [false, 0]);
});

test("a WebSocket needs a valid token, and the rate limit counts each message", async (t) => {
  const ops = [
    gatewayOp("gw", { authentication: true, rate_limit: { limit: 1, interval_seconds: 60, technique: "fixed" } }),
    gatewayTokenOp(TOKEN),
  ];
  const { gateway, ask, messages, rows } = await opened(t, { ops });
  const stranger = new WebSocket(gateway.replace("http", "ws"));
  stranger.on("error", () => undefined);
  const [, res] = await once(stranger, "unexpected-response");
  assert.equal(res.statusCode, 401);
  res.resume();
  ask(step("hello"));
  await eventually(() => messages.length === 1);
  ask(step("hello"));
  await eventually(() => messages.length === 2);
  assert.deepEqual([messages[0].type, messages[1].status, rows.length], ["universal.created", 429, 1]);
});
