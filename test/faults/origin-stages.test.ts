import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import type { EdgeLimits } from "#edge/config.ts";
import { exchangeRaw, rawClient, rawOrigin, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { recordOp } from "#edge/testing/entries.ts";
import { fetchOver, startSecureEdge } from "../support/secure-edge.ts";

// How far an origin comes before it goes wrong, and what its visitor gets for it.

const REQUEST = "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nAccept: application/json\r\n\r\n";
/** Longer than the second between two looks at the time, so that a sign of life in it would count. */
const LIMITS: Partial<EdgeLimits> = { responseTimeoutMs: 1_200, connectTimeoutMs: 1_500 };

const openConnections = (edge: TestEdge): number =>
  edge.metrics.samples().find(({ name }) => name === "selvedge_edge_origin_connections")?.value ?? 0;

/** Runs a request against an origin, by either protocol; what the visitors got, and the rows. Nothing may stay open behind them. */
async function against(onSocket: (socket: Socket) => void) {
  const origin = await rawOrigin(onSocket);
  const edge = await startSecureEdge(origin.port, LIMITS);
  try {
    const [response, answer] = await Promise.all([
      exchangeRaw(edge.http, REQUEST),
      fetchOver(edge.session(), { accept: "application/json" }),
    ]);
    await eventually(() => edge.requests.length === 2 && openConnections(edge) === 0);
    assert.deepEqual(edge.errors, []);
    return { response, answer, rows: edge.requests };
  } finally {
    await edge.close();
    origin.close();
  }
}

const reset = (socket: Socket): void => void setImmediate(() => socket.resetAndDestroy());
const end = (socket: Socket): void => void socket.end();
const stall = (): void => undefined;
/** A byte now and then, for ever: each one is a sign of life. */
const drip =
  (byte: string) =>
  (socket: Socket): void => {
    const timer = setInterval(() => socket.write(byte), 50);
    socket.on("close", () => clearInterval(timer));
  };

const HEAD = "HTTP/1.1 200 OK\r\n";
const LENGTH = `${HEAD}Content-Length: 100\r\n\r\n`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

type Stage = readonly [said: string, what: string, then: (socket: Socket) => void, code: number | "cut"];
const STAGES: readonly Stage[] = [
  ["", "resets", reset, 520],
  ["", "ends", end, 520],
  ["", "stalls", stall, 524],
  ["HTTP/1.1 20", "resets", reset, 520],
  ["HTTP/1.1 20", "stalls", stall, 524],
  [`${HEAD}X: `, "drips", drip("y"), 524],
  [`${HEAD}Content-Le`, "resets", reset, 520],
  ["HTTP/1.1 103 Early Hints\r\n\r\n", "resets", reset, 520],
  ["HTTP/1.1 100 Continue\r\n\r\n", "stalls", stall, 524],
  [LENGTH, "resets", reset, "cut"],
  [LENGTH, "ends", end, "cut"],
  [LENGTH, "stalls", stall, "cut"],
  [`${LENGTH}half`, "resets", reset, "cut"],
  [`${LENGTH}half`, "stalls", stall, "cut"],
  [CHUNKED, "resets", reset, "cut"],
  [`${CHUNKED}4\r\nha`, "ends", end, "cut"],
  [`${CHUNKED}4\r\nhalf\r\n`, "ends", end, "cut"],
  [`${CHUNKED}4\r\nhalf\r\n0\r\n`, "ends", end, "cut"],
  [`${CHUNKED}4\r\nhalf\r\n0\r\nX: `, "ends", end, "cut"],
  [`${CHUNKED}fffffffffffffffff\r\n`, "ends", end, "cut"],
  [`${HEAD}\r\nhalf`, "resets", reset, "cut"],
  [`${HEAD}\r\nhalf`, "stalls", stall, "cut"],
];
describe("an origin that starts a response and then fails", { concurrency: true }, () => {
  for (const [said, what, then, code] of STAGES) {
    const name = said === "" ? "nothing" : JSON.stringify(said.replace(HEAD, ""));
    test(`${name}, and ${what}: ${code === "cut" ? "the answer is cut" : code}`, async () => {
      const { response, answer, rows } = await against((socket) => {
        socket.once("data", () => {
          socket.write(said);
          then(socket);
        });
      });
      const final = response.replace(/^(?:HTTP\/1\.1 1\d\d [^]*?\r\n\r\n)+/, "");
      if (code === "cut") {
        assert.match(final, /^HTTP\/1\.1 200 /);
        assert.doesNotMatch(final, /\r\n0\r\n\r\n$/, "it must not look complete");
        // A reset in the same turn overtakes the head.
        assert.ok([0, 200].includes(answer.status));
        assert.notEqual(answer.code, 0, "its stream must be reset");
        for (const row of rows) assert.deepEqual([row.status, row.origin_status], [200, 200]);
        return;
      }
      assert.equal(final.slice(9, 12), `${code}`);
      const { errors } = JSON.parse(final.slice(final.indexOf("\r\n\r\n") + 4)) as { errors: { code: number }[] };
      assert.equal(errors[0]!.code, code);
      assert.deepEqual([answer.status, answer.code], [code, 0]);
      assert.match(answer.body, new RegExp(`"code":${code},`));
      for (const row of rows) assert.deepEqual([row.status, row.origin_status], [code, null]);
    });
  }
});

test("an HTTP/1.0 client can detect a truncated response, although only the end of the connection ends a response", async () => {
  const origin = await rawOrigin((socket) => {
    socket.once("data", () => {
      socket.write(`${CHUNKED}4\r\nhalf\r\n`);
      setTimeout(() => socket.destroy(), 50);
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  const client = rawClient(edge.http);
  const failed = once(client.socket, "error");
  client.send("GET / HTTP/1.0\r\nHost: www.example.com\r\n\r\n");
  await client.until(/half/);
  assert.equal(((await failed) as [NodeJS.ErrnoException])[0].code, "ECONNRESET");
  await edge.close();
  origin.close();
});

/** Listens, but its queue of connections is full and nobody takes one out of it. */
async function deafListener() {
  const code = `require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { process.stdout.write(String(this.address().port)); })`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGSTOP");
  const port = Number(text.toString());
  const sockets = Array.from({ length: 6 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => undefined));
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, "connect")));
  await new Promise((done) => setTimeout(done, 50));
  return {
    port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}

test("an origin that does not accept connections gives 522 at the timeout", async () => {
  const deaf = await deafListener();
  const edge = await startEdge(siteOps(deaf.port), {}, LIMITS);
  try {
    assert.match(await exchangeRaw(edge.http, REQUEST), /^HTTP\/1\.1 522 /);
    assert.equal(openConnections(edge), 0);
  } finally {
    await edge.close();
    deaf.close();
  }
});

test("an address without a route gives 523", async () => {
  // TCP knows no way to many at once, and the operator's block lets it be tried.
  const multicast = recordOp("www", "zone", "www.example.com", "A", "224.0.0.1");
  const edge = await startEdge([...siteOps(81), multicast], { originAllow: ["224.0.0.0/4"] }, LIMITS);
  try {
    assert.match(await exchangeRaw(edge.http, REQUEST), /^HTTP\/1\.1 523 /);
  } finally {
    await edge.close();
  }
});

for (const keepsReading of [true, false]) {
  test(`the client gets a response that arrives before its request ends, while the origin ${keepsReading ? "reads on" : "stops reading"}`, async () => {
    let upstream = 0;
    const origin = await rawOrigin((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        if (keepsReading) socket.on("data", (bytes) => (upstream += bytes.length));
        else socket.pause();
      });
    });
    const edge = await startEdge(siteOps(origin.port), {}, { lingerMs: 300 });
    const client = rawClient(edge.http);
    client.send(`POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: ${100_000_000}\r\n\r\n`);
    const piece = Buffer.alloc(65_536, "x");
    const more = (): void => {
      while (client.socket.writable && client.socket.write(piece));
    };
    client.socket.on("drain", more);
    more();
    const response = await client.until(/big$/);
    assert.match(response, /^HTTP\/1\.1 413 [^]*\r\n\r\nbig$/);
    await client.closed();
    await eventually(() => edge.requests.length === 1 && openConnections(edge) === 0);
    assert.deepEqual([edge.requests[0]!.status, edge.requests[0]!.origin_status], [413, 413]);
    assert.ok(upstream < 50_000_000, "after the answer the rest of the request is nobody's business");
    assert.deepEqual(edge.errors, []);
    await edge.close();
    origin.close();
  });
}

test("bytes that an origin sends after the response to HEAD, or after a 304, never reach another client", async () => {
  const EVIL = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  const origin = await rawOrigin((socket) => {
    socket.on("data", (bytes) => {
      const isHead = bytes.toString("latin1").startsWith("HEAD");
      socket.write(`HTTP/1.1 ${isHead ? "200 OK\r\nContent-Length: 4" : "304 Not Modified"}\r\n\r\n${EVIL}`);
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  for (const method of ["HEAD", "GET", "HEAD", "GET"]) {
    const response = await exchangeRaw(edge.http, REQUEST.replace("GET", method));
    assert.match(response, method === "HEAD" ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 304 /);
    assert.doesNotMatch(response, /evil/);
  }
  await edge.close();
  origin.close();
});

test("an idle connection on which the origin sends data is closed", async () => {
  let sockets = 0;
  const origin = await rawOrigin((socket) => {
    sockets++;
    socket.on("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), 30);
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  for (let i = 1; i <= 3; i++) {
    assert.match(await exchangeRaw(edge.http, REQUEST), /\r\n\r\nok$/);
    await eventually(() => openConnections(edge) === 0);
    assert.equal(sockets, i);
  }
  await edge.close();
  origin.close();
});

test("an origin that stops reading an upload slows the client down, and the upload fails at the timeout", async () => {
  const origin = await rawOrigin((socket) => void socket.once("data", () => socket.pause()));
  const edge = await startEdge(siteOps(origin.port), {}, { responseTimeoutMs: 500 });
  const client = rawClient(edge.http);
  client.send(`POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: ${100_000_000}\r\n\r\n`);
  let sent = 0;
  const piece = Buffer.alloc(65_536, "x");
  const more = (): void => {
    do sent += piece.length;
    while (client.socket.writable && sent < 100_000_000 && client.socket.write(piece));
  };
  client.socket.on("drain", more);
  more();
  assert.match(await client.until(/^HTTP\/1\.1 \d{3} /), /^HTTP\/1\.1 524 /);
  assert.ok(sent < 50_000_000, `the visitor was read ahead: ${sent}`);
  client.socket.destroy();
  await eventually(() => openConnections(edge) === 0);
  await edge.close();
  origin.close();
});

test("failing origins leave no open connection, and no request is sent twice", async () => {
  let turn = 0;
  const origin = await rawOrigin((socket) => {
    socket.once("data", () => {
      const [said, , then] = STAGES[turn++ % STAGES.length]!;
      socket.write(said);
      if (then === stall) socket.destroy();
      else if (then === reset || then === end) then(socket);
      else socket.end("y".repeat(50_000));
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  for (let round = 0; round < 20; round++) await Promise.all(STAGES.map(() => exchangeRaw(edge.http, REQUEST)));
  await eventually(() => openConnections(edge) === 0);
  assert.equal(edge.requests.length, 20 * STAGES.length);
  assert.equal(turn, 20 * STAGES.length, "none was sent twice");
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});
