import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { createServer } from "./node-http.ts";
import { REQUESTS_AHEAD_MAX } from "./requests-ahead.ts";

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A server, the number of heads that Node's parser has read of its first connection, and a client. */
async function serving(t: TestContext, listener: RequestListener) {
  const server = createServer({}, listener);
  let heads = 0;
  server.once("connection", (socket: Socket) => {
    const { parser } = socket as unknown as { parser: { onIncoming: (...head: unknown[]) => number } };
    const { onIncoming } = parser;
    parser.onIncoming = (...head) => {
      heads++;
      return onIncoming(...head);
    };
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => undefined);
  await once(client, "connect");
  let told = "";
  client.on("data", (bytes) => (told += bytes.toString()));
  const paths = () => Array.from(told.matchAll(/\r\n\r\n(\/\d+)/g), ([, path]) => path);
  return { client, heads: () => heads, told: () => told, paths };
}

test("Node's parser reads few of the requests that a client sends ahead, and the connection ends after their answers", async (t) => {
  const { client, heads, told, paths } = await serving(t, (req, res) => void delay(20).then(() => res.end(req.url)));
  const sent = Array.from({ length: 20_000 }, (_, i) => `/${i}`);
  client.write(sent.map(request).join(""));
  await once(client, "end");
  assert.equal(heads(), REQUESTS_AHEAD_MAX + 1);
  assert.deepEqual(paths(), sent.slice(0, REQUESTS_AHEAD_MAX));
  assert.equal(told().split("Connection: close").length, 2);
});

test("expectations that Node refuses itself count too", async (t) => {
  const { client, heads, told } = await serving(t, (req, res) => void res.end(req.url));
  client.write("GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n".repeat(3_000));
  await once(client, "close");
  assert.equal(heads(), REQUESTS_AHEAD_MAX + 1);
  assert.ok(told().startsWith("HTTP/1.1 417 "));
});

test("a client that has its answers sends on for ever, a few requests at a time", async (t) => {
  const { client, heads, paths } = await serving(t, (req, res) => void res.end(req.url));
  for (let round = 1; round <= 10; round++) {
    client.write(Array.from({ length: REQUESTS_AHEAD_MAX }, (_, i) => request(`/${i}`)).join(""));
    while (paths().length < round * REQUESTS_AHEAD_MAX) await once(client, "data");
  }
  assert.equal(heads(), 10 * REQUESTS_AHEAD_MAX);
});

test("a body behind a head arrives as it was", async (t) => {
  const { client, paths } = await serving(t, (req, res) => {
    let bytes = 0;
    req.on("data", (chunk: Buffer) => (bytes += chunk.length)).on("end", () => res.end(`/${bytes}`));
  });
  client.write(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n${"GET / HTTP/1.1\r\n\r\n".repeat(200_000).slice(0, 3_000_000)}`,
  );
  client.write(request("/"));
  while (paths().length < 2) await once(client, "data");
  assert.deepEqual(paths(), ["/3000000", "/0"]);
});
