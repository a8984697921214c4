import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createServer } from "#kernel/net/node-http.ts";
import { REQUESTS_AHEAD_MAX } from "#kernel/net/requests-ahead.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { inTurns } from "./request-turns.ts";

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A server that answers at once, the paths that it was asked for, and two open connections. */
async function serving(t: TestContext, onRequest: (path: string) => void = () => undefined) {
  const seen: string[] = [];
  const server = createServer(
    {},
    inTurns((req, res) => {
      seen.push(req.url!);
      onRequest(req.url!);
      res.end(req.url);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  return { seen, flood: await open(), other: await open() };
}

test("a request waits for few of those that another client has sent ahead, which are answered in order", async (t) => {
  const sockets: { other?: Socket } = {};
  const { seen, flood, other } = await serving(t, (path) => path === "/0" && sockets.other?.write(request("/other")));
  sockets.other = other;
  let told = "";
  flood.on("data", (bytes) => (told += bytes.toString()));
  const paths = Array.from({ length: REQUESTS_AHEAD_MAX }, (_, i) => `/${i}`);
  flood.write(paths.map(request).join(""));
  await eventually(() => told.endsWith(`/${REQUESTS_AHEAD_MAX - 1}`));
  assert.deepEqual(
    Array.from(told.matchAll(/\r\n\r\n(\/\d+)/g), ([, path]) => path),
    paths,
  );
  assert.ok(seen.indexOf("/other") < 20, `after ${seen.indexOf("/other")} requests`);
});

test("a client that sends hundreds of requests ahead has a few answers and loses its connection, and others are served", async (t) => {
  const { seen, flood, other } = await serving(t);
  flood.resume().write(request("/flood").repeat(300));
  await once(flood, "close");
  other.write(request("/other"));
  await eventually(() => seen.includes("/other"));
  assert.equal(seen.length, REQUESTS_AHEAD_MAX + 1);
});
