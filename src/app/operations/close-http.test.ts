import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, get, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { closeHttp, trackConnections } from "./close-http.ts";

/** Whose requests wait for an answer; a test that hangs is one that fails. */
async function waitingServer(t: TestContext) {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer({ keepAliveTimeout: 3_600_000, requestTimeout: 0 }, (_req, res) => asked.resolve(res)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const close = (drainMs: number) => closeHttp({ server, close: () => promisify(server.close.bind(server))() }, drainMs);
  return { port, asked: asked.promise, close };
}

test("an active request gets its response, and a kept-alive connection delays nothing", { timeout: 60_000 }, async (t) => {
  const { port, asked, close } = await waitingServer(t);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const answered = once(get({ agent, port, host: "127.0.0.1" }), "response");
  const res = await asked;
  const closed = close(3_600_000);
  res.end("whole");
  const [answer] = await answered;
  assert.equal(await text(answer), "whole");
  await closed;
});

test("requests without a response at the timeout are cut off", { timeout: 60_000 }, async (t) => {
  const { port, asked, close } = await waitingServer(t);
  const client = connect(port, "127.0.0.1").on("error", () => undefined);
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await asked;
  await close(20);
});

test("a reader that does not take its answer delays nothing, and one that takes it gets all of it", { timeout: 60_000 }, async (t) => {
  const size = 32 * 1024 * 1024;
  const server = createServer((_req, res) => void res.end(Buffer.alloc(size, "a")));
  const connections = trackConnections(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const idle = connect(port, "127.0.0.1").on("error", () => undefined);
  t.after(() => idle.destroy());
  idle.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(
    idle.on("readable", () => undefined),
    "readable",
  );
  const [answer] = await once(get({ port, host: "127.0.0.1" }), "response");
  const whole = text(answer);
  const closed = closeHttp({ server, close: () => promisify(server.close.bind(server))(), connections }, 3_600_000);
  assert.equal((await whole).length, size);
  await closed;
});
