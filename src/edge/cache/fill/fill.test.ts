import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { test } from "node:test";
import { httpOrigin, rawClient, rawOrigin, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { eventually, settled } from "../../../../test/support/eventually.ts";

interface Ends {
  after(end: () => unknown): void;
}

/** A site whose origin answers when the test says so. */
async function heldSite(t: Ends, memory = 4_000_000): Promise<{ readonly edge: TestEdge; readonly held: ServerResponse[] }> {
  const held: ServerResponse[] = [];
  const origin = await httpOrigin((_req, res) => void held.push(res));
  const edge = await startEdge(siteOps(origin.port), { cacheMemoryBytesMax: memory }, { cacheWaitMs: 3_000 });
  t.after(async () => {
    await edge.close();
    origin.close();
    assert.deepEqual(edge.errors, []);
  });
  return { edge, held };
}

const request = (path: string, fields = ""): string =>
  `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\n${fields}Connection: close\r\n\r\n`;

function asks(edge: TestEdge, path: string, fields = "") {
  const client = rawClient(edge.http);
  client.send(request(path, fields));
  return client;
}

const cacheStatus = (text: string): string | undefined => /svc-cache-status: (\w+)/.exec(text)?.[1];
const body = (text: string): string => text.slice(text.indexOf("\r\n\r\n") + 4);

test("concurrent requests for one URL share one origin request, and every client gets the body while it arrives", async (t) => {
  const { edge, held } = await heldSite(t);
  const clients = Array.from({ length: 20 }, () => asks(edge, "/a.css"));
  await eventually(() => held.length > 0);
  await settled();
  assert.equal(held.length, 1);
  held[0]!.writeHead(200, { "Cache-Control": "max-age=60", "Content-Length": 10 });
  held[0]!.write("01234");
  await Promise.all(clients.map((client) => client.until(/\r\n\r\n01234$/)));
  const late = asks(edge, "/a.css");
  await late.until(/\r\n\r\n01234$/);
  held[0]!.end("56789");
  for (const client of [...clients, late]) assert.equal(body(await client.closed()), "0123456789");
  assert.equal(held.length, 1);
  assert.equal(cacheStatus(await asks(edge, "/a.css").closed()), "HIT");
});

test("a private response does not make other requests for its URL wait, now or the next time", async (t) => {
  const { edge, held } = await heldSite(t);
  const clients = Array.from({ length: 3 }, () => asks(edge, "/a.css"));
  await eventually(() => held.length === 1);
  await settled();
  held[0]!.writeHead(200, { "Cache-Control": "private" }).flushHeaders();
  await eventually(() => held.length === 3);
  const next = [asks(edge, "/a.css"), asks(edge, "/a.css")];
  await eventually(() => held.length === 5);
  for (const [index, res] of held.entries()) res.end(`body ${index}`);
  const bodies = await Promise.all([...clients, ...next].map((client) => client.closed()));
  assert.equal(new Set(bodies.map(body)).size, 5);
});

test("if a body has no Content-Length, the first client gets it as it arrives and the others get it once it is complete", async (t) => {
  const { edge, held } = await heldSite(t);
  const first = asks(edge, "/a.css");
  await eventually(() => held.length === 1);
  const second = asks(edge, "/a.css");
  await settled();
  held[0]!.writeHead(200, { "Cache-Control": "max-age=60" });
  held[0]!.write("01234");
  await first.until(/01234/);
  assert.equal(second.received(), "");
  held[0]!.end("56789");
  assert.match(await first.closed(), /01234\r\n5\r\n56789\r\n0\r\n\r\n$/);
  const text = await second.closed();
  assert.deepEqual([cacheStatus(text), body(text)], ["HIT", "0123456789"]);
});

test("the edge does not cache a truncated response, and its clients can see that it is truncated", async (t) => {
  const sockets: Socket[] = [];
  const origin = await rawOrigin((socket) => void sockets.push(socket));
  const edge = await startEdge(siteOps(origin.port));
  t.after(() => Promise.all([edge.close(), origin.close()]));
  for (const framing of ["Content-Length: 10\r\n\r\n01234", "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n"]) {
    const before = sockets.length;
    const client = asks(edge, "/a.css");
    await eventually(() => sockets.length === before + 1);
    sockets[before]!.end(`HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n${framing}`);
    assert.match(await client.closed(), /01234(\r\n)?$/);
  }
  const client = asks(edge, "/a.css");
  await eventually(() => sockets.length === 3);
  // Without a length, the end of the connection may also be a fault.
  sockets[2]!.end("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nwhole");
  assert.match(await client.closed(), /whole/);
  const again = asks(edge, "/a.css");
  await eventually(() => sockets.length === 4);
  again.socket.destroy();
});

test("a client that disconnects does not disturb the others, and the edge closes the origin connection after the last one", async (t) => {
  const { edge, held } = await heldSite(t);
  const first = asks(edge, "/a.css");
  await eventually(() => held.length === 1);
  const second = asks(edge, "/a.css");
  await settled();
  first.socket.destroy();
  await settled();
  held[0]!.writeHead(200, { "Cache-Control": "max-age=60", "Content-Length": 10 });
  held[0]!.write("01234");
  await second.until(/01234/);
  assert.equal(held.length, 1);
  let isLetGo = false;
  held[0]!.on("close", () => void (isLetGo = true));
  second.socket.destroy();
  await eventually(() => isLetGo);
  assert.deepEqual(
    edge.requests.map(({ status }) => status),
    [499, 200],
  );
});

test("a request that waits too long for a shared response goes to the origin itself", async (t) => {
  const { edge, held } = await heldSite(t);
  const first = asks(edge, "/a.css");
  await eventually(() => held.length === 1);
  const second = asks(edge, "/a.css");
  await eventually(() => held.length === 2);
  held[1]!.writeHead(200, { "Cache-Control": "max-age=60" }).end("second");
  assert.match(await second.closed(), /second/);
  held[0]!.writeHead(200, { "Cache-Control": "max-age=60" }).end("first");
  assert.match(await first.closed(), /first/);
});

test("a body that is too large for the cache passes through at the client's pace", async (t) => {
  const { edge, held } = await heldSite(t, 1_000_000);
  for (const length of [5_000_000, null]) {
    const client = asks(edge, `/${length}.zip`);
    client.socket.pause();
    const before = held.length;
    await eventually(() => held.length === before + 1);
    const res = held[before]!;
    res.writeHead(200, { "Cache-Control": "max-age=60", ...(length === null ? {} : { "Content-Length": length }) });
    for (let sent = 0; sent < 5_000_000; sent += 100_000) res.write("x".repeat(100_000));
    res.end();
    await settled();
    client.socket.resume();
    const text = await client.closed();
    assert.equal(body(text).replaceAll(/[^x]/g, "").length, 5_000_000);
    assert.equal(cacheStatus(text), "MISS");
    const again = asks(edge, `/${length}.zip`);
    await eventually(() => held.length === before + 2);
    again.socket.destroy();
  }
  assert.ok(edge.metrics.samples().every(({ name, value }) => name !== "selvedge_edge_cache_responses" || value === 0));
});

test("a client that pipelines requests without reading gets no more responses than fit into its buffer", async (t) => {
  const { edge, held } = await heldSite(t);
  const first = asks(edge, "/a.zip");
  await eventually(() => held.length === 1);
  held[0]!.writeHead(200, { "Cache-Control": "max-age=60", "Content-Length": 400_000 }).end("x".repeat(400_000));
  await first.closed();
  const client = rawClient(edge.http);
  client.socket.pause();
  const count = 50;
  client.send("GET /a.zip HTTP/1.1\r\nHost: www.example.com\r\n\r\n".repeat(count));
  await settled();
  const written = edge.requests.length;
  assert.ok(written < count, `${written} answers were gathered for one who does not read`);
  client.socket.resume();
  let received = 0;
  client.socket.on("data", (bytes) => void (received += bytes.length));
  await eventually(() => received > count * 400_000);
  client.socket.destroy();
});
