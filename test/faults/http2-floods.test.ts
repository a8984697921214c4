import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { rawOrigin, routeOp, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { block, END_STREAM, frame, FRAME, frameClient, GET, POST, request } from "../support/http2-frames.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";

let origin: TestOrigin;
let edge: SecureEdge;
let asked = 0;

before(async () => {
  origin = await rawOrigin((socket) => {
    socket.on("data", (bytes) => {
      for (const _ of bytes.toString("latin1").matchAll(/GET \/ /g)) {
        asked++;
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }
    });
    socket.on("end", () => socket.end());
  });
  edge = await startSecureEdge(origin.port, { http2ResetsMax: 100, http2ResetsPerSecond: 10 });
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const resetOf = (stream: number): Buffer => frame(FRAME.RST_STREAM, 0, stream, Buffer.of(0, 0, 0, 8));
const served = async (): Promise<void> => assert.equal((await fetchOver(edge.session(), {})).body, "ok");

test("CVE-2023-44487: a client that resets each stream right after opening it loses its connection, and other clients are served", async () => {
  const client = await frameClient(edge.https, edge.rootPem);
  const before = asked;
  // In pieces, so that some requests are on their way when they are taken back.
  for (let stream = 1; stream < 4000 && !client.socket.destroyed; stream += 2) {
    client.send(request(stream), resetOf(stream));
    if (stream % 50 === 1) await new Promise((done) => setTimeout(done, 1));
  }
  await client.closed();
  const goaway = client.frames.find(({ type }) => type === FRAME.GOAWAY);
  if (goaway !== undefined) assert.ok([2, 11].includes(goaway.payload.readUInt32BE(4)), "INTERNAL_ERROR or ENHANCE_YOUR_CALM");
  assert.ok(asked - before < 300, `${asked - before} requests reached the origin`);
  await served();
});

test("CVE-2025-8671: a client that makes the edge reset each stream loses its connection, and other clients are served", async () => {
  const client = await frameClient(edge.https, edge.rootPem);
  const before = asked;
  for (let stream = 1; stream < 4000 && !client.socket.destroyed; stream += 2) {
    // A window that grows too large is an error of the stream alone (RFC 9113 §6.9.1).
    client.send(request(stream), frame(FRAME.WINDOW_UPDATE, 0, stream, Buffer.of(0x7f, 0xff, 0xff, 0xff)));
    if (stream % 50 === 1) await new Promise((done) => setTimeout(done, 1));
  }
  await client.closed();
  assert.ok(asked - before < 300, `${asked - before} requests reached the origin`);
  await served();
});

const FLOODS: readonly (readonly [what: string, piece: (i: number) => Buffer])[] = [
  ["settings", () => frame(FRAME.SETTINGS, 0, 0, Buffer.of(0, 3, 0, 0, 0, 1))],
  ["pings", () => frame(FRAME.PING, 0, 0, Buffer.alloc(8))],
  ["empty data frames", (i) => (i === 0 ? request(1, [], false, POST) : frame(FRAME.DATA, 0, 1))],
  ["continuations", (i) => frame(i === 0 ? FRAME.HEADERS : FRAME.CONTINUATION, i === 0 ? END_STREAM : 0, 1, block([["x-a", "y"]]))],
  ["priorities", (i) => frame(FRAME.PRIORITY, 0, 2 * i + 1, Buffer.of(0, 0, 0, 0, 1))],
  ["frames of unknown types", () => frame(0x77, 0, 0, "x")],
];
for (const [what, piece] of FLOODS)
  test(`a flood of ${what} neither crashes the thread nor exhausts its memory, and other clients are served`, async () => {
    const client = await frameClient(edge.https, edge.rootPem);
    // It never reads the acknowledgements.
    client.socket.pause();
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 20_000 && !client.socket.destroyed; i++) {
      client.send(piece(i));
      if (i % 500 === 0) await new Promise((done) => setImmediate(done));
    }
    await served();
    assert.ok(process.memoryUsage().rss - before < 100 * 1024 * 1024);
    client.socket.destroy();
  });

const ENHANCE_YOUR_CALM = 11;
const PADDED = 0x8;
/** After the request on stream 1, which has been answered, and on 3, whose body is still to come. */
const WITHOUT_PURPOSE: readonly (readonly [what: string, piece: Buffer])[] = [
  ["padding (CVE-2019-9518)", frame(FRAME.DATA, PADDED, 3, Buffer.from([255, ...new Uint8Array(255)]))],
  ["empty data frames (CVE-2019-9518)", frame(FRAME.DATA, 0, 3)],
  ["pings (CVE-2019-9512)", frame(FRAME.PING, 0, 0, Buffer.alloc(8))],
  ["settings (CVE-2019-9515)", frame(FRAME.SETTINGS, 0, 0)],
  ["priorities (CVE-2019-9513)", frame(FRAME.PRIORITY, 0, 5, Buffer.of(0, 0, 0, 0, 1))],
  ["small windows", frame(FRAME.WINDOW_UPDATE, 0, 0, Buffer.of(0, 0, 0, 1))],
  ["resets of an ended stream", frame(FRAME.RST_STREAM, 0, 1, Buffer.of(0, 0, 0, 8))],
  ["GOAWAY frames", frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8))],
];
for (const [what, piece] of WITHOUT_PURPOSE)
  test(`ENHANCE_YOUR_CALM ends the connection of a client that floods: ${what}`, async () => {
    const client = await frameClient(edge.https, edge.rootPem);
    client.send(request(1), request(3, [], false, POST));
    await client.next(({ stream, flags }) => stream === 1 && (flags & END_STREAM) !== 0);
    const isTold = (): boolean =>
      client.frames.some(({ type, payload }) => type === FRAME.GOAWAY && payload.readUInt32BE(4) === ENHANCE_YOUR_CALM);
    const many = Buffer.concat(Array.from({ length: 100 }, () => piece));
    let sent = 0;
    for (; sent < 60_000 && !isTold() && !client.socket.destroyed; sent += 100) {
      client.send(many);
      await new Promise((done) => setImmediate(done));
    }
    await client.closed();
    assert.ok(isTold(), `after ${sent} frames: ${JSON.stringify(client.frames.at(-1))}`);
    await served();
  });

test("streams beyond the limit are refused, and admitted streams get their responses", async () => {
  const client = await frameClient(edge.https, edge.rootPem);
  const streams = Array.from({ length: 150 }, (_, i) => 2 * i + 1);
  client.send(...streams.map((stream) => request(stream, [], false, POST)));
  await client.next(({ type }) => type === FRAME.RST_STREAM);
  const codes = client.frames.filter(({ type }) => type === FRAME.RST_STREAM).map(({ payload }) => payload.readUInt32BE(0));
  assert.ok(
    codes.every((code) => code === 7),
    "REFUSED_STREAM: asking again is safe",
  );
  client.socket.destroy();
  await served();
});

test("a client that does not read a large response occupies bounded memory and is disconnected in the end", async () => {
  const large = await rawOrigin((socket) => {
    socket.on("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 268435456\r\n\r\n");
      const fill = (): void => {
        while (socket.write(Buffer.alloc(65_536)));
      };
      socket.on("drain", fill);
      fill();
    });
  });
  const impatient = await startSecureEdge(large.port, { progressWindowMs: 1000 });
  impatient.replica.apply([routeOp(large.port)]);
  // Windows of one byte: everything but that waits at the edge.
  const client = await frameClient(impatient.https, impatient.rootPem, Buffer.of(0, 4, 0, 0, 0, 1));
  const before = process.memoryUsage().rss;
  client.send(...Array.from({ length: 20 }, (_, i) => request(2 * i + 1)));
  for (let i = 0; i < 20; i++) await client.next(({ type, stream }) => type === FRAME.RST_STREAM && stream === 2 * i + 1);
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 * 1024);
  assert.deepEqual(impatient.errors, []);
  client.socket.destroy();
  await impatient.close();
  large.close();
});

test("a slow upload gets 408, and a connection without requests or without a preface is closed", async () => {
  const patient = await rawOrigin((socket) => void socket.on("end", () => socket.end()).resume());
  const impatient = await startSecureEdge(patient.port, {
    bodyWindowMs: 1000,
    idleTimeoutMs: 1000,
    headTimeoutMs: 1000,
    lingerMs: 100,
  });
  const upload = await frameClient(impatient.https, impatient.rootPem);
  upload.send(request(1, [], false, POST), frame(FRAME.DATA, 0, 1, "a"));
  await upload.next(({ type, stream }) => type === FRAME.HEADERS && stream === 1);
  assert.equal(impatient.requests.at(-1)?.status, 408);
  const end = await upload.next(({ type, stream }) => type === FRAME.RST_STREAM && stream === 1);
  assert.equal(end.payload.readUInt32BE(0), 0, "the page is whole, and the rest is not wanted");
  const idle = await frameClient(impatient.https, impatient.rootPem);
  await idle.next(({ type }) => type === FRAME.GOAWAY);
  await idle.closed();
  const silent = connect({
    port: impatient.https,
    host: "127.0.0.1",
    servername: "www.example.com",
    ca: impatient.rootPem,
    ALPNProtocols: ["h2"],
  });
  silent.on("error", () => undefined).resume();
  await eventually(() => silent.destroyed || silent.readableEnded);
  silent.destroy();
  await eventually(() => impatient.metrics.samples().some(({ name, value }) => name === "selvedge_edge_connections" && value === 0));
  await impatient.close();
  patient.close();
});

test("a draining edge completes active requests and accepts no new ones", async () => {
  let answer: (() => void) | undefined;
  const slow = await rawOrigin((socket) => {
    socket.on("data", () => {
      answer = () => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
    });
    socket.on("end", () => socket.end());
  });
  const draining = await startSecureEdge(slow.port);
  const client = await frameClient(draining.https, draining.rootPem);
  client.send(request(1, [], true, GET));
  await eventually(() => answer !== undefined);
  const closed = draining.close(5000);
  const goaway = await client.next(({ type }) => type === FRAME.GOAWAY);
  assert.equal(goaway.payload.readUInt32BE(4), 0);
  client.send(request(3, [], true, GET));
  answer?.();
  const data = await client.next(({ type, stream }) => type === FRAME.DATA && stream === 1);
  assert.equal(data.payload.toString(), "done");
  await client.closed();
  await closed;
  assert.equal(client.frames.filter(({ type, stream }) => type === FRAME.HEADERS && stream === 3).length, 0);
  assert.deepEqual(draining.errors, []);
  slow.close();
});
