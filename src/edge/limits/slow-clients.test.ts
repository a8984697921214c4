import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { createStalledExchanges, type Holder } from "./slow-clients.ts";
import { exchangeRaw, httpOrigin, rawClient, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { fetchOver, startSecureEdge } from "../../../test/support/secure-edge.ts";

const PLACES = 4;
const H = "Host: www.example.com\r\n";
const good = (edge: TestEdge) => exchangeRaw(edge.http, `GET /good HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);

let origin: TestOrigin;
let asked = 0;
before(async () => {
  origin = await httpOrigin((req, res) => {
    asked++;
    if (req.url === "/big") return void sendWithoutEnd(res);
    req.resume().on("end", () => res.end("fine"));
  });
});
after(() => origin.close());

function sendWithoutEnd(res: ServerResponse): void {
  const piece = Buffer.alloc(65_536, "x");
  const more = (): void => {
    while (!res.destroyed && res.write(piece));
  };
  res.on("error", () => undefined).on("drain", more);
  more();
}

const limits = { originConnectionsMax: PLACES, originStallMs: 500 };

test("clients that send bodies slowly do not keep an origin from others: the edge ends only as many as necessary, with 408", async (t) => {
  const edge = await startEdge(siteOps(origin.port), {}, limits);
  t.after(() => edge.close());
  const before = asked;
  const uploads = Array.from({ length: PLACES }, () => {
    const client = rawClient(edge.http);
    client.send(`POST /up HTTP/1.1\r\n${H}Content-Length: 1000000\r\n\r\n`);
    const trickle = setInterval(() => client.send("x".repeat(500)), 50);
    client.socket.on("close", () => clearInterval(trickle));
    return client;
  });
  await eventually(() => asked === before + PLACES);
  assert.match(await good(edge), /^HTTP\/1\.1 200 [^]*fine$/);
  const ended = uploads.filter((client) => client.received() !== "");
  assert.equal(ended.length, 1);
  assert.match(await ended[0]!.closed(), /^HTTP\/1\.1 408 /);
  assert.equal(metric(edge), 1);
  for (const client of uploads) client.socket.destroy();
});

test("clients that read slowly do not keep an origin from others: the edge disconnects only as many as necessary", async (t) => {
  const edge = await startEdge(siteOps(origin.port), {}, limits);
  t.after(() => edge.close());
  const before = asked;
  const closed: boolean[] = [];
  const readers = Array.from({ length: PLACES }, (_, i) => {
    const socket = connect({ port: edge.http, host: "127.0.0.1" });
    socket.on("error", () => undefined).on("close", () => (closed[i] = true));
    socket.write(`GET /big HTTP/1.1\r\n${H}\r\n`);
    socket.pause();
    return socket;
  });
  await eventually(() => asked === before + PLACES);
  assert.match(await good(edge), /^HTTP\/1\.1 200 /);
  assert.equal(metric(edge), 1);
  for (const socket of readers) socket.resume();
  await eventually(() => closed.some(Boolean));
  for (const socket of readers) socket.destroy();
});

test("over HTTP/2 a slow client loses its stream and not its connection, and a slow origin costs no client its place", async (t) => {
  const edge = await startSecureEdge(origin.port, limits);
  t.after(() => edge.close());
  const session = edge.session();
  const streams = Array.from({ length: PLACES }, () => {
    const stream = session.request({ ":path": "/up", ":method": "POST", ":authority": "www.example.com" });
    stream.on("error", () => undefined).write("some");
    return stream;
  });
  const statuses: unknown[] = [];
  for (const stream of streams) stream.on("response", (fields) => statuses.push(fields[":status"]));
  await eventually(() => edge.metrics.samples().some(({ name, value }) => name === "selvedge_edge_origin_connections" && value === PLACES));
  assert.equal((await fetchOver(session, { ":path": "/good" })).status, 200);
  await eventually(() => statuses.length === 1);
  assert.deepEqual(statuses, [408]);

  const silent = await httpOrigin((req) => void req.resume());
  const other = await startEdge(siteOps(silent.port), {}, { ...limits, connectTimeoutMs: 1500 });
  t.after(() => other.close().then(silent.close));
  const waiting = Array.from({ length: PLACES }, () => {
    const client = rawClient(other.http);
    client.send(`POST / HTTP/1.1\r\n${H}Content-Length: 2\r\n\r\nok`);
    return client;
  });
  await eventually(() =>
    other.metrics.samples().some(({ name, value }) => name === "selvedge_edge_origin_connections" && value === PLACES),
  );
  assert.match(await good(other), /^HTTP\/1\.1 503 /);
  assert.deepEqual(
    waiting.map((client) => client.received()),
    ["", "", "", ""],
  );
  for (const client of waiting) client.socket.destroy();
});

const metric = (edge: TestEdge): number =>
  edge.metrics.samples().find(({ name }) => name === "selvedge_edge_slow_clients_closed_total")?.value ?? -1;

test("the client with the most exchanges loses its slowest one first, and exchanges that do not wait for their client are exempt", () => {
  const holder = (visitorAddress: string, bytesPerCheck: number, isHeldByVisitor = true) => ({
    visitorAddress,
    isHeldByVisitor,
    bytesMoved: 0,
    bytesPerCheck,
  });
  const all = [
    holder("192.0.2.1", 1),
    holder("192.0.2.2", 50),
    holder("2001:db8::1", 30),
    holder("2001:db8::2", 20),
    holder("192.0.2.3", 0, false),
    holder("192.0.2.2", 60),
    holder("2001:db8::3", 40),
  ];
  const stalled = createStalledExchanges<Holder & { readonly bytesPerCheck: number }>();
  for (const nowMs of [0, 500, 1000]) {
    for (const one of all) one.bytesMoved += one.bytesPerCheck;
    stalled.observe(all, nowMs);
  }
  const rates = (count: number) => stalled.worst(count, 1000, 1000).map(({ bytesPerCheck }) => bytesPerCheck);
  // First three of one /64, then the others by their rates.
  assert.deepEqual(rates(4), [20, 30, 50, 1]);
  assert.deepEqual(rates(100), [20, 30, 50, 1, 40, 60]);
  assert.deepEqual(stalled.worst(9, 1000, 1001), []);
  stalled.observe(all.slice(0, 1), 1500);
  assert.equal(stalled.worst(9, 1500, 0).length, 1);
  stalled.forget();
  assert.deepEqual(stalled.worst(9, 1500, 0), []);
});
