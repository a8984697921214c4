import assert from "node:assert/strict";
import { test } from "node:test";
import type { EdgeLimits } from "#edge/config.ts";
import { fetchOver, startSecureEdge } from "../support/secure-edge.ts";
import { httpOrigin, rawClient, siteOps, startEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually, standstill } from "../support/eventually.ts";

const H = "Host: www.example.com\r\n";

async function serving(
  origin: TestOrigin,
  limits: Partial<EdgeLimits>,
  run: (edge: Awaited<ReturnType<typeof startEdge>>) => Promise<void>,
) {
  const edge = await startEdge(siteOps(origin.port), {}, limits);
  try {
    await run(edge);
    assert.deepEqual(edge.errors, []);
  } finally {
    await edge.close();
    origin.close();
  }
}

const echoLength = () =>
  httpOrigin((req, res) => {
    let bytes = 0;
    req.on("data", (piece: Buffer) => (bytes += piece.length));
    req.on("end", () => res.end(String(bytes)));
  });

/** A name of no zone: the edge itself answers, with a page much larger than the request. */
const UNROUTED = "GET / HTTP/1.1\r\nHost: nobody.example\r\n\r\n";
const unrouted = (count: number) => UNROUTED.repeat(count - 1) + UNROUTED.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
const answersIn = (text: string) => text.match(/HTTP\/1\.1 530/g)?.length;

test("the edge stops reading from a client that does not read its responses, and sends them all once it reads", async () => {
  await serving(await echoLength(), { lingerMs: 100 }, async (edge) => {
    const COUNT = 40_000;
    const client = rawClient(edge.http);
    client.socket.pause();
    client.send(unrouted(COUNT));
    const taken = await standstill(() => edge.requests.length);
    assert.ok(taken > 0 && taken < COUNT * 0.75, `${taken} answers wait for a reader`);
    client.socket.resume();
    assert.equal(answersIn(await client.closed()), COUNT);

    // Nearly as many as the edge answers to nobody, so that the last answers are with the edge and not with the kernel when the end of
    // the connection is decided. How many the kernel takes differs from one connection to the next.
    let count = taken;
    let slow: ReturnType<typeof rawClient>;
    for (;;) {
      count -= 40;
      assert.ok(count > 0);
      slow = rawClient(edge.http);
      slow.socket.pause();
      const before = edge.requests.length;
      slow.send(unrouted(count));
      if ((await standstill(() => edge.requests.length)) - before === count) break;
      slow.socket.destroy();
      await standstill(() => edge.requests.length);
    }
    await new Promise((done) => setTimeout(done, 2500));
    slow.socket.resume();
    assert.equal(answersIn(await slow.closed()), count, "what ends the connection is not cut short");
  });
});

test("empty lines do not keep a connection open", async () => {
  await serving(await echoLength(), { idleTimeoutMs: 1500 }, async (edge) => {
    const client = rawClient(edge.http);
    client.send(`GET / HTTP/1.1\r\n${H}\r\n`);
    await client.until(/\r\n\r\n0$/);
    const drip = setInterval(() => client.send("\r\n"), 200);
    await client.closed();
    clearInterval(drip);
    assert.equal(edge.requests.length, 1, "an idle connection is closed without a word");
  });
});

test("a slow body gets 408, and a steady one does not, however long it takes", async () => {
  await serving(await echoLength(), { bodyWindowMs: 2_000, bodyBytesMin: 1000 }, async (edge) => {
    const head = `POST / HTTP/1.1\r\n${H}Connection: close\r\nContent-Length: 100000\r\n\r\n`;
    const [slow, steady] = [rawClient(edge.http), rawClient(edge.http)];
    slow.send(head);
    steady.send(head);
    const drip = setInterval(() => slow.send("x"), 50);
    let sent = 0;
    const flow = setInterval(() => {
      if ((sent += 2000) <= 100_000) steady.send("x".repeat(2000));
    }, 50);
    assert.match(await slow.closed(), /^HTTP\/1\.1 408 /);
    assert.match(await steady.closed(), /^HTTP\/1\.1 200 [^]*100000$/);
    clearInterval(drip);
    clearInterval(flow);
  });
});

test("a body that exceeds its total time gets 408", async () => {
  await serving(await echoLength(), { bodyTimeoutMs: 1000 }, async (edge) => {
    const client = rawClient(edge.http);
    client.send(`POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n`);
    const flow = setInterval(() => client.send(`3e8\r\n${"x".repeat(1000)}\r\n`), 20);
    assert.match(await client.closed(), /^HTTP\/1\.1 408 /);
    clearInterval(flow);
  });
});

test("a body above the limit gets 413: with a length before the origin gets it, in chunks while it arrives", async () => {
  const origin = await echoLength();
  await serving(origin, { requestBodyBytesMax: 10_000 }, async (edge) => {
    const send = async (framing: string, body: string) => {
      const client = rawClient(edge.http);
      client.send(`POST / HTTP/1.1\r\n${H}Connection: close\r\n${framing}\r\n\r\n${body}`);
      return (await client.closed()).slice(9, 12);
    };
    const chunk = `fa0\r\n${"x".repeat(4000)}\r\n`;
    assert.equal(await send("Content-Length: 10000", "x".repeat(10_000)), "200");
    assert.equal(await send("Transfer-Encoding: chunked", `${chunk.repeat(2)}0\r\n\r\n`), "200");
    assert.equal(await send("Content-Length: 10001", ""), "413");
    assert.equal(await send("Transfer-Encoding: chunked", chunk.repeat(3)), "413");
    await eventually(() => edge.requests.length === 4);
    assert.deepEqual(edge.requests.map((row) => row.status).toSorted(), [200, 200, 413, 413]);
  });
});

test("over HTTP/2 a body above the limit gets 413, and the connection continues", async () => {
  const origin = await echoLength();
  const edge = await startSecureEdge(origin.port, { requestBodyBytesMax: 10_000 });
  const session = edge.session();
  const post = async (body: string, headers: Record<string, string> = {}) =>
    (await fetchOver(session, { ":method": "POST", ...headers }, body)).status;
  assert.equal(await post("x".repeat(10_000)), 200);
  assert.equal(await post("x".repeat(20_000)), 413);
  assert.equal(await post("x".repeat(20_000), { "content-length": "20000" }), 413);
  assert.equal(await post("x".repeat(10_000), { "content-length": "10000" }), 200);
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});
