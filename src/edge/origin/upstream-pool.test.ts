import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { exchangeRaw, rawClient, rawOrigin, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { eventually, settled, PATIENCE_MS } from "../../../test/support/eventually.ts";
import { recordOp } from "#edge/testing/entries.ts";

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const paths = (bytes: Buffer): string[] => Array.from(bytes.toString("latin1").matchAll(/^GET (\S+)/gm), ([, path]) => path!);
const gauge = (edge: TestEdge, wanted: string): number => edge.metrics.samples().find(({ name }) => name === wanted)?.value ?? 0;
const openConnections = (edge: TestEdge): number => gauge(edge, "selvedge_edge_origin_connections");

test("the edge never opens more connections than allowed, also while the origin closes many of them", async () => {
  let most = 0;
  let turn = 0;
  // Counted at the edge: the origin sees a close only after the edge has made room for another connection.
  const count = (): number => (most = Math.max(most, openConnections(edge)));
  const origin = await rawOrigin((socket) => {
    count();
    socket.on("close", count);
    socket.on("end", () => socket.end());
    socket.on("data", () => {
      count();
      turn++;
      // Some close after their response, some announce it, some close without notice.
      if (turn % 5 === 0) socket.end(OK);
      else if (turn % 7 === 0) socket.write(OK.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      else if (turn % 11 === 0) socket.destroy();
      else setTimeout(() => socket.write(OK), turn % 3);
    });
  });
  // A busy machine must not make a request's wait time out.
  const edge = await startEdge(siteOps(origin.port), {}, { originConnectionsMax: 4, connectTimeoutMs: PATIENCE_MS });
  const statuses = await Promise.all(
    Array.from({ length: 400 }, async (_, i) => (await exchangeRaw(edge.http, request(`/${i}`))).slice(9, 12)),
  );
  assert.ok(statuses.every((status) => status === "200" || status === "520"));
  assert.ok(statuses.filter((status) => status === "200").length > 340);
  assert.equal(most, 4);
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

/** An origin that answers when told, one request of a connection at a time. */
async function patientOrigin() {
  const asked: string[] = [];
  const sockets: Socket[] = [];
  const origin = await rawOrigin((socket) => {
    socket.on("data", (bytes) => {
      asked.push(...paths(bytes));
      sockets.push(socket);
    });
  });
  return { port: origin.port, asked, answer: () => sockets.shift()?.write(OK), close: origin.close };
}

test("the edge serves waiting requests in order, skips clients that left, and answers 503 after the timeout", async () => {
  const origin = await patientOrigin();
  const edge = await startEdge(siteOps(origin.port), {}, { originConnectionsMax: 1, connectTimeoutMs: 3_000 });
  const clients = Array.from({ length: 6 }, () => rawClient(edge.http));
  // All connect before the first sends its request, and they send one after the other, so the order is known.
  await eventually(() => gauge(edge, "selvedge_edge_connections") === clients.length);
  for (const [i, client] of clients.entries()) {
    client.send(request(`/${i}`));
    await settled(5);
  }
  clients[2]!.socket.destroy();
  await eventually(() => edge.requests.length === 1);
  for (let served = 1; served <= 3; served++) {
    await eventually(() => origin.asked.length === served);
    origin.answer();
  }
  assert.match(await clients[3]!.closed(), /^HTTP\/1\.1 200 /);
  await eventually(() => origin.asked.length === 4);
  assert.match(await clients[5]!.closed(), /^HTTP\/1\.1 503 /);
  origin.answer();
  assert.match(await clients[4]!.closed(), /^HTTP\/1\.1 200 /);
  assert.deepEqual(origin.asked, ["/0", "/1", "/3", "/4"]);
  await edge.close();
  origin.close();
});

test("if an address has no free connection, the edge uses the next address", async () => {
  const origin = await patientOrigin();
  const other = createServer((socket) => socket.on("data", () => socket.write(OK)));
  await new Promise<void>((done) => other.listen(origin.port, "127.0.0.2", done));
  const edge = await startEdge(siteOps(origin.port), {}, { originConnectionsMax: 1, originQueueMax: 0 });
  const first = rawClient(edge.http);
  first.send(request("/first"));
  await eventually(() => origin.asked.length === 1);
  assert.match(await exchangeRaw(edge.http, request("/alone")), /^HTTP\/1\.1 503 /);
  edge.replica.apply([recordOp("www2", "zone", "www.example.com", "A", "127.0.0.2")]);
  for (let i = 0; i < 4; i++) assert.match(await exchangeRaw(edge.http, request("/beside")), /^HTTP\/1\.1 200 /);
  origin.answer();
  assert.match(await first.closed(), /^HTTP\/1\.1 200 /);
  assert.deepEqual(origin.asked, ["/first"]);
  await edge.close();
  other.close();
  origin.close();
});

test("an idle connection closes after its timeout, or one second before the origin's Keep-Alive timeout", async () => {
  const origin = await rawOrigin((socket) =>
    socket.on("data", (bytes) =>
      socket.write(paths(bytes)[0] === "/brief" ? OK.replace("\r\n\r\n", "\r\nKeep-Alive: timeout=1, max=5\r\n\r\n") : OK),
    ),
  );
  const edge = await startEdge(siteOps(origin.port), {}, { originIdleTimeoutMs: 60_000 });
  assert.match(await exchangeRaw(edge.http, request("/brief")), /ok$/);
  await eventually(() => openConnections(edge) === 0);
  assert.match(await exchangeRaw(edge.http, request("/long")), /ok$/);
  await new Promise((done) => setTimeout(done, 1200));
  assert.equal(openConnections(edge), 1);
  await edge.close();
  origin.close();
});

test("after a stall of the thread, an upload does not go to an origin's connection whose time is over", async () => {
  let accepted = 0;
  const origin = await rawOrigin((socket) => {
    accepted++;
    socket.on("data", () => socket.write(OK.replace("\r\n\r\n", "\r\nKeep-Alive: timeout=2\r\n\r\n")));
  });
  const edge = await startEdge(siteOps(origin.port));
  const upload = "POST /up HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx";
  for (let round = 1; round <= 4; round++) {
    const client = rawClient(edge.http);
    await eventually(() => gauge(edge, "selvedge_edge_connections") === 1);
    // It comes right after the stall, before a check has closed the connection.
    if (round > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
    client.send(upload);
    assert.match(await client.closed(), /^HTTP\/1\.1 200 /);
    assert.equal(accepted, round);
    await eventually(() => gauge(edge, "selvedge_edge_connections") === 0);
  }
  await edge.close();
  origin.close();
});

test("the total number of idle connections has a limit, and the one that is idle for longest closes first", async () => {
  const server = createServer((socket) => socket.on("data", () => socket.write(OK)));
  await new Promise<void>((done) => server.listen(0, "0.0.0.0", done));
  const { port } = server.address() as AddressInfo;
  const names = Array.from({ length: 6 }, (_, i) => `site-${i}.example.com`);
  const edge = await startEdge(
    [...siteOps(port), ...names.map((name, i) => recordOp(name, "zone", name, "A", `127.0.0.${i + 1}`))],
    {},
    { originIdleMax: 3 },
  );
  const visit = (name: string) => exchangeRaw(edge.http, request("/").replace("www.example.com", name));
  let accepted = 0;
  server.on("connection", () => accepted++);
  for (const name of names) assert.match(await visit(name), /ok$/);
  assert.equal(openConnections(edge), 3);
  for (const name of names.slice(3)) assert.match(await visit(name), /ok$/);
  assert.equal(accepted, 6, "the last ones were kept");
  assert.match(await visit(names[0]!), /ok$/);
  assert.equal(accepted, 7);
  assert.equal(openConnections(edge), 3);
  await edge.close();
  server.close();
});

test("while the edge drains, each connection closes after its response and none stays idle", async () => {
  const origin = await patientOrigin();
  const edge = await startEdge(siteOps(origin.port));
  const idle = exchangeRaw(edge.http, request("/idle"));
  await eventually(() => origin.asked.length === 1);
  origin.answer();
  await idle;
  const [slow, late] = [rawClient(edge.http), rawClient(edge.http)];
  slow.send(request("/slow"));
  late.send("GET /late HTTP/1.1\r\n");
  await eventually(() => origin.asked.length === 2);
  const closed = edge.close(5000);
  // A request whose head has begun is still answered, over a new connection to the origin.
  late.send("Host: www.example.com\r\n\r\n");
  await eventually(() => origin.asked.length === 3);
  origin.answer();
  origin.answer();
  assert.match(await slow.closed(), /ok$/);
  assert.match(await late.closed(), /ok$/);
  await closed;
  await eventually(() => openConnections(edge) === 0);
  origin.close();
});
