import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { exchangeRaw, httpOrigin, rawOrigin, rawClient, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";

for (const socketCalls of [await loadSocketCalls(), null]) {
  describe(`with connections of ${socketCalls === null ? "Node.js" : "our own loop"}`, () => {
    /** Everything that the origin received, by connection. */
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
      edge = await startEdge(siteOps(origin.port), { socketCalls });
    });
    after(async () => {
      await edge.close();
      origin.close();
    });

    const H = "Host: www.example.com\r\n";

    test("property: for any bytes from a client, the origin gets only complete requests and the edge stays up", async () => {
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
          // Many of these wait for more bytes; anything sent to the origin has left by then.
          await Promise.race([client.closed(), new Promise((done) => setTimeout(done, 25))]);
          client.socket.destroy();
          // Each connection to the origin has only text that the edge wrote: its request lines and its fields.
          for (const stream of received) {
            const requests = stream.match(/(?:^|\n)[A-Z]+ \S+ HTTP\/1\.1\r\nHost: www\.example\.com\r\n/g)?.length ?? 0;
            const ends = stream.match(/\r\nCDN-Loop: svc\r\n\r\n/g)?.length ?? 0;
            assert.equal(ends, requests);
          }
        }),
        { numRuns: 60 },
      );
      assert.match(await exchangeRaw(edge.http, `GET / HTTP/1.1\r\n${H}Connection: close\r\n\r\n`), /^HTTP\/1\.1 200/);
      assert.deepEqual(edge.errors, []);
    });

    test("a stream in random pieces gives the same responses as in one piece", async () => {
      const echo = await httpOrigin((req, res) => {
        res.setHeader("date", "-");
        // A response that begins before the end of its request ends the connection, so it waits.
        const body: Buffer[] = [];
        req.on("data", (bytes: Buffer) => void body.push(bytes));
        req.on("end", () => {
          for (const bytes of body) res.write(bytes);
          res.end();
        });
      });
      const site = await startEdge(siteOps(echo.port));
      const stream = `POST /a HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nX: y\r\n\r\nGET /b HTTP/1.1\r\n${H}Connection: close\r\n\r\n`;
      // Chunks may be cut differently; their contents may not change.
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
        { numRuns: 30 },
      );
      await site.close();
      echo.close();
    });
  });
}
