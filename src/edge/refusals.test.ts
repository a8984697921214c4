import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { exchangeRaw, httpOrigin, rawOrigin, rawClient, siteOps, startEdge, type TestEdge, type TestOrigin } from "./test-edge.ts";

/** Everything that the origin was sent, each connection apart. */
let received: string[] = [];
let origin: TestOrigin;
let edge: TestEdge;

before(async () => {
  origin = await rawOrigin((socket) => {
    const at = received.push("") - 1;
    const mine = received;
    socket.on("data", (bytes) => {
      mine[at] += bytes.toString("latin1");
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    socket.on("end", () => socket.end());
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  await edge.close();
  origin.close();
});

const H = "Host: www.example.com\r\n";
const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: www.example.com\r\n\r\n";

/** Refused before the origin sees anything: name, what is sent, status. */
const REFUSED: readonly (readonly [why: string, bytes: string, status: number])[] = [
  // SPEC 7.13: both lengths at once.
  ["CL.TE", `POST / HTTP/1.1\r\n${H}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["TE.CL", `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${SMUGGLED}0\r\n\r\n`, 400],
  ["TE.TE", `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["a hidden coding", `POST / HTTP/1.1\r\n${H}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["a space before the colon", `POST / HTTP/1.1\r\n${H}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["two lengths", `POST / HTTP/1.1\r\n${H}Content-Length: 0\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`, 400],
  ["a listed length", `POST / HTTP/1.1\r\n${H}Content-Length: 0, 50\r\n\r\n${SMUGGLED}`, 400],
  ["a folded field", `GET / HTTP/1.1\r\n${H}X: y\r\n z\r\n\r\n`, 400],
  ["a bare LF", `GET / HTTP/1.1\r\n${H}X: y\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["LF alone, at once and not after a timeout", "GET / HTTP/1.1\nHost: www.example.com\n\n", 400],
  ["NUL", `GET / HTTP/1.1\r\n${H}X: \0\r\n\r\n`, 400],
  ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 400],
  ["an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400],
  ["two Hosts", `GET / HTTP/1.1\r\n${H}${H}\r\n`, 400],
  ["a Host with user information", "GET / HTTP/1.1\r\nHost: a@www.example.com\r\n\r\n", 400],
  ["a Host with a path", "GET / HTTP/1.1\r\nHost: www.example.com/x\r\n\r\n", 400],
  ["a Host with a space", "GET / HTTP/1.1\r\nHost: www.example.com x\r\n\r\n", 400],
  ["another authority than the Host's", `GET http://other.example/ HTTP/1.1\r\n${H}\r\n`, 400],
  ["a fragment", `GET /#x HTTP/1.1\r\n${H}\r\n`, 400],
  ["HTTP/0.9", "GET /\r\n\r\n", 400],
  ["HTTP/2.0", `GET / HTTP/2.0\r\n${H}\r\n`, 505],
  ["a long head", `GET / HTTP/1.1\r\n${H}X: ${"y".repeat(33_000)}\r\n\r\n`, 431],
  ["a long head without end", `GET / HTTP/1.1\r\n${H}X: ${"y".repeat(40_000)}`, 431],
  ["many fields", `GET / HTTP/1.1\r\n${H}${"X: y\r\n".repeat(128)}\r\n`, 431],
  ["an unknown Expect", `GET / HTTP/1.1\r\n${H}Expect: 200-ok\r\n\r\n`, 417],
  ["CONNECT", "CONNECT www.example.com:443 HTTP/1.1\r\nHost: www.example.com:443\r\n\r\n", 501],
  ["TRACE", `TRACE / HTTP/1.1\r\n${H}\r\n`, 501],
  ["TLS on the plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  ["Connection naming the length", `POST / HTTP/1.1\r\n${H}Connection: Content-Length\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`, 400],
];

for (const [why, bytes, status] of REFUSED) {
  test(`refused, and the origin sees nothing: ${why}`, async () => {
    received = [];
    const response = await exchangeRaw(edge.http, bytes);
    assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(response.match(/HTTP\/1\.1 \d/g)?.length, 1, "one answer, and then the connection is closed");
    assert.deepEqual(received, []);
  });
}

/** Refused when the body turns out bad: the request is on its way already, and nothing may follow it. */
const BAD_BODIES: readonly (readonly [why: string, body: string, status: number])[] = [
  ["a size that is no number", `zz\r\n${SMUGGLED}`, 400],
  ["data longer than its size", `1\r\nab\r\n${SMUGGLED}`, 400],
  ["a size that ends in LF", `1\na\r\n0\r\n\r\n${SMUGGLED}`, 400],
  ["an overflowing size", `fffffffffffffffff\r\n${SMUGGLED}`, 413],
  ["an endless extension", `1;${"x".repeat(2000)}\r\na\r\n0\r\n\r\n`, 413],
  ["a length in the trailers", `0\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`, 400],
];
for (const [why, body, status] of BAD_BODIES) {
  test(`refused, and the origin sees at most one request: ${why}`, async () => {
    received = [];
    const response = await exchangeRaw(edge.http, `POST /first HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n${body}`);
    assert.match(response, new RegExp(`^HTTP/1\\.1 (?:${status}|200) `));
    assert.doesNotMatch(received.join(""), /smuggled/);
    assert.ok((received.join("").match(/POST \/first/g)?.length ?? 0) <= 1);
  });
}

test("whatever is sent, the origin gets whole requests of ours and the edge stays up", async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "GET / HTTP/1.1\r\n",
      "POST / HTTP/1.1\r\n",
      H,
      "\r\n",
      "Content-Length: 3\r\n",
      "Transfer-Encoding: chunked\r\n",
      "0\r\n\r\n",
      "3\r\nabc\r\n",
      "abc",
      "Connection: close\r\n",
      "\n",
      " ",
      "\0",
      "X: y\r\n",
    ),
    fc.string({ maxLength: 8, unit: "binary-ascii" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (pieces) => {
      received = [];
      const client = rawClient(edge.http);
      client.send(`GET / HTTP/1.1\r\n${H}${pieces.join("")}`);
      // Many of these wait for more; whatever goes to the origin has gone by then.
      await Promise.race([client.closed(), new Promise((done) => setTimeout(done, 25))]);
      client.socket.destroy();
      // Each connection to the origin carries only what we write: a request line of ours and our own fields.
      for (const stream of received) {
        const requests = stream.match(/(?:^|\n)[A-Z]+ \S+ HTTP\/1\.1\r\nHost: www\.example\.com\r\n/g)?.length ?? 0;
        const ends = stream.match(/\r\nCDN-Loop: svc\r\n\r\n/g)?.length ?? 0;
        assert.equal(ends, requests);
      }
    }),
    { seed: 5, numRuns: 60, timeout: 10_000 },
  );
  assert.match(await exchangeRaw(edge.http, `GET / HTTP/1.1\r\n${H}Connection: close\r\n\r\n`), /^HTTP\/1\.1 200/);
  assert.deepEqual(edge.errors, []);
});

test("random cuts of one stream give the answers of the whole", async () => {
  const echo = await httpOrigin((req, res) => {
    res.setHeader("date", "-");
    req.pipe(res);
  });
  const site = await startEdge(siteOps(echo.port));
  const stream = `POST /a HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nX: y\r\n\r\nGET /b HTTP/1.1\r\n${H}Connection: close\r\n\r\n`;
  // Chunks may be cut anew on the way; what they carry may not change.
  const strip = (text: string) => text.replace(/svc-ray: \w+/g, "").replace(/(?<=\n)[0-9a-f]+\r\n([a-z]+)\r\n/g, "$1");
  const whole = strip(await exchangeRaw(site.http, stream));
  assert.match(whole, /abc0\r\n\r\n/);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }), async (sizes) => {
      const client = rawClient(site.http);
      for (let at = 0, i = 0; at < stream.length; i++) {
        const size = sizes[i % sizes.length]!;
        client.send(stream.slice(at, at + size));
        at += size;
        await new Promise((done) => setImmediate(done));
      }
      assert.equal(strip(await client.closed()), whole);
    }),
    { seed: 11, numRuns: 30 },
  );
  await site.close();
  echo.close();
});
