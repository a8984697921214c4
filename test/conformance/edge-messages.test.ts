import assert from "node:assert/strict";
import { test } from "node:test";
import { exchangeRaw, httpOrigin, rawClient, rawOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";

const H = "Host: www.example.com\r\n";

async function behind(origin: TestOrigin, run: (edge: TestEdge) => Promise<void>): Promise<void> {
  const edge = await startEdge(siteOps(origin.port));
  try {
    await run(edge);
    assert.deepEqual(edge.errors, []);
  } finally {
    await edge.close();
    origin.close();
  }
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
const echo = () => httpOrigin((req, res) => void req.pipe(res));

test("pipelined requests with bodies get their responses in order", async () => {
  await behind(await echo(), async (edge) => {
    const bodies = ["one", "", "three".repeat(20_000), "4", "five"];
    const requests = bodies.map((body, i) =>
      i % 2 === 0
        ? `POST /${i} HTTP/1.1\r\n${H}Content-Length: ${body.length}\r\n\r\n${body}`
        : `PUT /${i} HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n${body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`,
    );
    const answer = await exchangeRaw(edge.http, `${requests.join("")}GET / HTTP/1.0\r\n${H}\r\n`);
    assert.deepEqual(
      statuses(answer),
      Array.from({ length: 6 }, () => "200"),
    );
    const text = answer.replaceAll(/\r\n(?:[0-9a-f]+)\r\n/g, "");
    let at = 0;
    for (const body of bodies) {
      const found = text.indexOf(body, at);
      assert.ok(found >= at, body.slice(0, 10));
      at = found + body.length;
    }
  });
});

test("HEAD, 204 and 304 in a pipeline do not shift the following responses", async () => {
  const origin = await httpOrigin((req, res) => {
    if (req.url === "/204") return void res.writeHead(204).end();
    if (req.url === "/304") return void res.writeHead(304, { "content-length": 50 }).end();
    res.setHeader("content-length", 4);
    res.end(req.method === "HEAD" ? undefined : "body");
  });
  await behind(origin, async (edge) => {
    const lines = ["GET /a", "HEAD /b", "GET /204", "GET /304", "HEAD /c", "GET /d"];
    const answer = await exchangeRaw(
      edge.http,
      lines.map((line, i) => `${line} HTTP/1.1\r\n${H}${i === 5 ? "Connection: close\r\n" : ""}\r\n`).join(""),
    );
    assert.deepEqual(statuses(answer), ["200", "200", "204", "304", "200", "200"]);
    assert.equal(answer.match(/body/g)?.length, 2);
    assert.ok(answer.endsWith("body"));
  });
});

test("the edge forwards a body that the client sends without waiting for 100 Continue", async () => {
  const origin = await rawOrigin((socket) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      // Knows nothing of Expect, as old servers do.
      if (text.endsWith("body")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
    });
  });
  await behind(origin, async (edge) => {
    for (const version of ["1.1", "1.0"]) {
      const client = rawClient(edge.http);
      client.send(`POST / HTTP/${version}\r\n${H}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`);
      await new Promise((done) => setTimeout(done, 100));
      assert.equal(client.received(), "");
      client.send("body");
      assert.match(await client.until(/done/), /^HTTP\/1\.1 200 /);
      client.socket.destroy();
    }
  });
});

test("an HTTP/1.0 client gets no 100 Continue, and its body is forwarded", async () => {
  const origin = await httpOrigin((req, res) => req.resume().on("end", () => res.end("thanks")));
  await behind(origin, async (edge) => {
    const client = rawClient(edge.http);
    client.send(`POST / HTTP/1.0\r\n${H}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`);
    await new Promise((done) => setTimeout(done, 100));
    client.send("body");
    assert.match(await client.closed(), /^HTTP\/1\.1 200 [^]*thanks$/);
  });
});

test("the client gets a response that arrives before its request ends, and the rest of the body is not parsed as a request", async () => {
  const seen: string[] = [];
  const origin = await rawOrigin((socket) => {
    socket.once("data", (bytes) => {
      seen.push(bytes.toString("latin1"));
      socket.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    });
    socket.on("data", () => undefined);
  });
  await behind(origin, async (edge) => {
    const client = rawClient(edge.http);
    client.send(`POST / HTTP/1.1\r\n${H}Content-Length: 1000000\r\n\r\nfirst`);
    await client.until(/\r\n\r\nno$/);
    client.send(`GET /smuggled HTTP/1.1\r\n${H}\r\n`);
    assert.match(await client.closed(), /^HTTP\/1\.1 403 [^]*Connection: close\r\n[^]*no$/);
    assert.equal(seen.length, 1);
  });
});

test("trailers pass in both directions, and are dropped towards a side that does not support chunks", async () => {
  const origin = await httpOrigin((req, res) => {
    req.resume().on("end", () => {
      res.setHeader("trailer", "X-Got");
      res.write("a");
      res.addTrailers({ "X-Got": String(req.trailers["x-sum"]) });
      res.end("b");
    });
  });
  await behind(origin, async (edge) => {
    const request = (version: string) =>
      `POST / HTTP/1.1\r\n${H}Connection: close\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 42\r\n\r\n`.replace(
        "HTTP/1.1",
        `HTTP/${version}`,
      );
    assert.match(await exchangeRaw(edge.http, request("1.1")), /\r\n0\r\nX-Got: 42\r\n\r\n$/);
    assert.match(await exchangeRaw(edge.http, `GET / HTTP/1.0\r\n${H}\r\n`), /\r\n\r\nab$/);
  });
});

test("a draining edge completes active requests in order, closes idle connections and accepts no new ones", async () => {
  const held: (() => void)[] = [];
  const origin = await httpOrigin((req, res) => {
    if (req.url === "/fast") return void res.end("fast");
    let bytes = 0;
    req.on("data", (piece: Buffer) => (bytes += piece.length));
    req.on("end", () => {
      res.write(`${bytes} `);
      held.push(() => res.end("end"));
    });
  });
  const edge = await startEdge(siteOps(origin.port));
  const [idle, download, upload, pipelined] = [rawClient(edge.http), rawClient(edge.http), rawClient(edge.http), rawClient(edge.http)];
  idle.send(`GET /fast HTTP/1.1\r\n${H}\r\n`);
  await idle.until(/fast/);
  download.send(`GET /slow HTTP/1.1\r\n${H}\r\n`);
  await download.until(/0 /);
  upload.send(`POST /slow HTTP/1.1\r\n${H}Content-Length: 6\r\n\r\nabc`);
  pipelined.send(`GET /slow HTTP/1.1\r\n${H}\r\nGET /never HTTP/1.1\r\n${H}\r\n`);
  await pipelined.until(/0 /);
  const closing = edge.close(8_000);
  await idle.closed();
  await assert.rejects(fetch(`http://127.0.0.1:${edge.http}/`));
  upload.send("def");
  await upload.until(/6 /);
  for (const end of held) end();
  assert.match(await download.closed(), /0 \r\n3\r\nend\r\n0\r\n\r\n$/);
  assert.match(await upload.closed(), /6 \r\n3\r\nend\r\n0\r\n\r\n$/);
  assert.deepEqual(statuses(await pipelined.closed()), ["200"]);
  await closing;
  await eventually(() => edge.requests.length === 4);
  origin.close();
});
