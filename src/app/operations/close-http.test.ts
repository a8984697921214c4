import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, get, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { closeHttp } from "./close-http.ts";

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
