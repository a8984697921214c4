import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { fc } from "../support/property.ts";
import type { EdgeLimits } from "#edge/config.ts";
import { exchangeRaw, httpOrigin, rawClient, rawOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { recordOp } from "#edge/testing/entries.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n";

/** Runs a request against an origin that misbehaves; what the visitor got and the row that was left. */
async function against(onSocket: (socket: Socket) => void, request = REQUEST, limits: Partial<EdgeLimits> = {}) {
  const origin = await rawOrigin(onSocket);
  const edge = await startEdge(siteOps(origin.port), {}, limits);
  try {
    const response = await exchangeRaw(edge.http, request);
    await eventually(() => edge.requests.length > 0);
    assert.deepEqual(edge.errors, []);
    return { response, row: edge.requests[0]! };
  } finally {
    await edge.close();
    origin.close();
  }
}

const answering =
  (text: string, end = true) =>
  (socket: Socket) =>
    void socket.once("data", () => {
      socket.write(text);
      if (end) socket.end();
    });

/** Each invalid response of an origin, for which the visitor gets 520. */
const MALFORMED: readonly (readonly [why: string, answer: string])[] = [
  ["nothing", ""],
  ["half a head", "HTTP/1.1 200 OK\r\nContent-Le"],
  ["another protocol", "220 mail.example ESMTP\r\n\r\n"],
  ["lines that end in LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
  ["length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a folded field", "HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n"],
  ["half a status line", "HTTP/1.1 20"],
  ["a page without a head, as in HTTP/0.9", "<html><body>hello</body></html>"],
  ["a version that is none", "HTTP/1.10 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ["another version", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ["another protocol's name", "ICY 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 99 Odd\r\nContent-Length: 0\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 Odd\r\nContent-Length: 0\r\n\r\n"],
  ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"],
  ["a signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"],
  ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok"],
  ["a length beyond counting", `HTTP/1.1 200 OK\r\nContent-Length: ${"9".repeat(30)}\r\n\r\nok`],
  ["chunks, then a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"],
  ["chunks twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["another coding below the chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
  ["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["space before a colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"],
  ["a field without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\nok"],
  ["NUL in a value", "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok"],
  ["CR in a value", "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 2\r\n\r\nok"],
  ["too many fields", `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(2000)}\r\n`],
  ["an endless head", `HTTP/1.1 200 OK\r\nX: ${"y".repeat(40_000)}`],
  ["an upgrade that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"],
  ["endless interim responses", "HTTP/1.1 102 Processing\r\n\r\n".repeat(40)],
];
for (const [why, answer] of MALFORMED) {
  test(`an origin that answers with ${why} gives 520`, async () => {
    const { response, row } = await against(answering(answer));
    assert.match(response.replace(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)*/, ""), /^HTTP\/1\.1 520 /);
    assert.equal(row.status, 520);
  });
}

test("property: whatever bytes an origin sends, in any chunks, the client gets a response or a cut, and no error is thrown", async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n",
      "Content-Length: 3\r\n",
      "Transfer-Encoding: chunked\r\n",
      "\r\n",
      "\n",
      "3\r\nabc\r\n",
      "0\r\n\r\n",
      "abc",
    ),
    fc.string({ maxLength: 6, unit: "binary-ascii" }),
  );
  let answer: readonly string[] = [];
  const origin = await rawOrigin((socket) => {
    socket.once("data", async () => {
      for (const text of answer) {
        socket.write(text, "latin1");
        await new Promise((done) => setImmediate(done));
      }
      socket.end();
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async (pieces) => {
      answer = ["HTTP/1.1 200 OK\r\n", ...pieces];
      assert.match(await exchangeRaw(edge.http, REQUEST), /^HTTP\/1\.1 \d{3} /);
    }),
    { numRuns: 150 },
  );
  assert.deepEqual(edge.errors, []);
  await eventually(() => edge.requests.length === 150);
  await edge.close();
  origin.close();
});

test("an origin that resets the connection gives 520", async () => {
  const { response } = await against((socket) => void socket.once("data", () => socket.resetAndDestroy()));
  assert.match(response, /^HTTP\/1\.1 520 /);
});

test("an origin that refuses connections gives 521, and the page does not name the origin", async () => {
  const gone = await rawOrigin(() => undefined);
  gone.close();
  const edge = await startEdge(siteOps(gone.port));
  const response = await exchangeRaw(edge.http, REQUEST);
  assert.match(response, /^HTTP\/1\.1 521 [^]*Content-Type: text\/html/);
  assert.doesNotMatch(response, new RegExp(`127\\.0\\.0\\.1|${gone.port}|ECONN`));
  const json = await exchangeRaw(edge.http, REQUEST.replace("\r\n\r\n", "\r\nAccept: application/json\r\n\r\n"));
  const { errors, ray_id: rayId } = JSON.parse(json.slice(json.indexOf("\r\n\r\n") + 4)) as { errors: { code: number }[]; ray_id: string };
  assert.equal(errors[0]!.code, 521);
  assert.match(json, new RegExp(`svc-ray: ${rayId}\r\n`));
  await edge.close();
});

test("an origin that does not respond gives 524 at the timeout", async () => {
  const { response, row } = await against(() => undefined, REQUEST, { responseTimeoutMs: 1_000 });
  assert.match(response, /^HTTP\/1\.1 524 /);
  assert.equal(row.origin_status, null);
});

test("a truncated body never looks complete", async () => {
  const byLength = await against(answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"));
  assert.match(byLength.response, /Content-Length: 100\r\n[^]*half$/);
  const chunked = await against(answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"));
  assert.match(chunked.response, /4\r\nhalf\r\n$/);
  const badChunk = await against(answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n"));
  assert.doesNotMatch(badChunk.response, /0\r\n\r\n$/);
  const stalled = await against(answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", false), REQUEST, {
    responseTimeoutMs: 1_000,
  });
  assert.match(stalled.response, /half$/);
});

test("a body ends at its content-length, and a connection with surplus bytes is not reused", async () => {
  let connections = 0;
  const origin = await rawOrigin((socket) => {
    connections++;
    socket.on(
      "data",
      () => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
    );
  });
  const edge = await startEdge(siteOps(origin.port));
  for (let i = 0; i < 3; i++) assert.match(await exchangeRaw(edge.http, REQUEST), /\r\n\r\nok$/);
  assert.equal(connections, 3);
  await edge.close();
  origin.close();
});

test("the edge replaces an idle connection that the origin closed, once, for requests that it may repeat", async () => {
  let requests = 0;
  const origin = await rawOrigin((socket) => {
    let served = 0;
    socket.on("data", () => {
      requests++;
      if (++served > 1) return void socket.destroy();
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  assert.match(await exchangeRaw(edge.http, REQUEST), /ok$/);
  assert.match(await exchangeRaw(edge.http, REQUEST), /^HTTP\/1\.1 200 [^]*ok$/);
  assert.equal(requests, 3);
  assert.match(await exchangeRaw(edge.http, REQUEST.replace("GET", "POST")), /^HTTP\/1\.1 520 /);
  assert.equal(requests, 4);
  await edge.close();
  origin.close();
});

test("if an address does not answer, the edge tries the next one", async () => {
  const origin = await httpOrigin((req, res) => req.pipe(res));
  const edge = await startEdge([...siteOps(origin.port), recordOp("www2", "zone", "www.example.com", "A", "127.0.0.2")]);
  try {
    for (let i = 0; i < 4; i++) {
      const response = await exchangeRaw(
        edge.http,
        "POST / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
      );
      assert.match(response, /^HTTP\/1\.1 200 [^]*hello/);
    }
  } finally {
    await edge.close();
    origin.close();
  }
});

test("the edge reaches an origin with IPv4 and IPv6 addresses over the family that answers", async (t) => {
  const server = createServer((socket) => socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n6")));
  server.listen(0, "::1");
  const isThere = await Promise.race([once(server, "listening").then(() => true), once(server, "error").then(() => false)]);
  if (!isThere) return t.skip("this machine has no IPv6");
  const edge = await startEdge([
    ...siteOps((server.address() as AddressInfo).port),
    recordOp("www6", "zone", "www.example.com", "AAAA", "::1"),
  ]);
  for (let i = 0; i < 4; i++) assert.match(await exchangeRaw(edge.http, REQUEST), /^HTTP\/1\.1 200 [^]*6$/);
  const refused = edge.metrics.samples().find(({ name }) => name === "selvedge_edge_origin_connects_failed_total");
  assert.deepEqual([refused?.labels["fault"], refused?.value], ["origin_refused", 1], "the other one is known to refuse after that");
  await edge.close();
  server.close();
});

for (const stage of ["before the answer", "amid the answer"]) {
  test(`a client that disconnects ${stage} closes the connection to the origin`, async () => {
    let open = 0;
    const origin = await rawOrigin((socket) => {
      open++;
      socket.on("close", () => open--);
      socket.on("end", () => socket.end());
      socket.once("data", () => {
        if (stage === "amid the answer") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
      });
    });
    const edge = await startEdge(siteOps(origin.port));
    const clients = Array.from({ length: 20 }, () => rawClient(edge.http));
    for (const client of clients) client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
    await eventually(() => open === 20);
    if (stage === "amid the answer") for (const client of clients) await client.until(/half$/);
    for (const client of clients) client.socket.destroy();
    await eventually(() => open === 0 && edge.requests.length === 20);
    for (const { status } of edge.requests) assert.equal(status, stage === "amid the answer" ? 200 : 499);
    assert.deepEqual(edge.errors, []);
    await edge.close();
    origin.close();
  });
}

test("a client that disconnects ends the request to the origin and leaves a row", async () => {
  let [isAsked, isClosed] = [false, false];
  const origin = await rawOrigin((socket) => {
    socket.on("data", () => (isAsked = true));
    socket.on("end", () => socket.end());
    socket.on("close", () => (isClosed = true));
  });
  const edge = await startEdge(siteOps(origin.port));
  const client = rawClient(edge.http);
  client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
  await eventually(() => isAsked);
  client.socket.destroy();
  await eventually(() => isClosed && edge.requests.length === 1);
  assert.equal(edge.requests[0]!.status, 499);
  await edge.close();
  origin.close();
});

test("slow heads, idle connections and stalled bodies are closed at their timeouts", async () => {
  const origin = await httpOrigin((req, res) => req.resume().on("end", () => res.end("ok")));
  const edge = await startEdge(
    siteOps(origin.port),
    {},
    { headTimeoutMs: 1_000, idleTimeoutMs: 1_000, progressWindowMs: 1_000, bodyWindowMs: 1_000 },
  );
  const [silent, slow, idle, upload] = [rawClient(edge.http), rawClient(edge.http), rawClient(edge.http), rawClient(edge.http)];
  slow.send("GET / HTTP/1.1\r\nHost: www.exam");
  idle.send("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
  upload.send("POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 100000\r\n\r\nabc");
  assert.equal(await silent.closed(), "");
  assert.match(await slow.closed(), /^HTTP\/1\.1 408 /);
  assert.match(await idle.closed(), /^HTTP\/1\.1 200 [^]*ok$/);
  assert.match(await upload.closed(), /^HTTP\/1\.1 408 /);
  await edge.close();
  origin.close();
});

test("a client that does not read is disconnected, and the edge does not buffer its response", async () => {
  let sent = 0;
  const origin = await httpOrigin((_req, res) => {
    const piece = Buffer.alloc(65_536, "x");
    const more = (): void => {
      while (sent < 256_000_000) {
        sent += piece.length;
        if (!res.write(piece)) return void res.once("drain", more);
      }
      res.end();
    };
    more();
  });
  const edge = await startEdge(siteOps(origin.port), {}, { progressWindowMs: 500 });
  const client = rawClient(edge.http);
  client.socket.pause();
  client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
  await eventually(() => edge.requests.length === 1);
  assert.ok(sent < 64_000_000, `the origin was read ahead: ${sent}`);
  client.socket.destroy();
  await edge.close();
  origin.close();
});

test("requests beyond the connection limit wait in the queue, and those beyond the queue get an error", async () => {
  const held: ServerResponse[] = [];
  let isHolding = true;
  const origin = await httpOrigin((_req, res) => void (isHolding ? held.push(res) : res.end("ok")));
  const edge = await startEdge(siteOps(origin.port), {}, { originConnectionsMax: 2, originQueueMax: 3 });
  const statuses = Promise.all(Array.from({ length: 8 }, async () => (await exchangeRaw(edge.http, REQUEST)).slice(9, 12)));
  await eventually(() => held.length === 2 && edge.requests.length === 3);
  isHolding = false;
  for (const res of held) res.end("ok");
  assert.deepEqual((await statuses).toSorted(), ["200", "200", "200", "200", "200", "503", "503", "503"]);
  assert.equal(held.length, 2);
  await edge.close();
  origin.close();
});
