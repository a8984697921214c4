import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { connect as connectTls } from "node:tls";
import { once } from "node:events";
import { sensitiveHeaders } from "node:http2";
import type { Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { httpOrigin, pathOrigin, rawOrigin, routeOp, type TestOrigin, TLS_WAYS } from "#edge/testing/edge.ts";
import { eventually } from "../../test/support/eventually.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { answerOf, fetchOver, type SecureEdge, startSecureEdge } from "../../test/support/secure-edge.ts";

/** An origin that answers by path with exact bytes. */
const RESPONSES: Readonly<Record<string, string>> = {
  "/chunked":
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n",
  "/length":
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nETag: 1\r\nETag: 2\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nHTTP2-Settings: x\r\nsvc-ray: forged\r\nX-High: caf\xe9\r\n\r\nhello",
  "/empty": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
  "/204": "HTTP/1.1 204 No Content\r\n\r\n",
  "/205": "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello",
  "/304": 'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\nETag: "a"\r\n\r\n',
  "/hints":
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "/eof": "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
  "/head": "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
  "/big": `HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n${"x".repeat(3_000_000)}`,
  "/short": "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this",
  "/chunk-cut": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
  "/999": "HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n\r\nno",
  "/malformed": "HTTP/1.1 200 OK\r\nBad Field: x\r\n\r\n",
  "/switch": "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
};
const CLOSES = new Set(["/eof", "/short", "/chunk-cut"]);

for (const [way, socketCalls] of TLS_WAYS) {
  describe(way, () => {
    let origin: TestOrigin;
    let echo: TestOrigin;
    let edge: SecureEdge;
    const heads: string[] = [];

    before(async () => {
      origin = await pathOrigin(RESPONSES, heads, CLOSES);
      echo = await httpOrigin((req, res) => {
        const pieces: Buffer[] = [];
        res.setHeader("x-seen", JSON.stringify(req.headers));
        if (req.url === "/stream") return void req.pipe(res);
        req.on("data", (piece: Buffer) => pieces.push(piece));
        req.on("end", () => {
          res.setHeader("x-trailers", JSON.stringify(req.trailers));
          res.end(createHash("sha256").update(Buffer.concat(pieces)).digest("hex"));
        });
      });
      edge = await startSecureEdge(origin.port, {}, { socketCalls });
    });
    after(async () => {
      assert.deepEqual(edge.errors, []);
      await edge.close();
      origin.close();
      echo.close();
    });

    const withEcho = async (work: () => Promise<void>): Promise<void> => {
      edge.replica.apply([routeOp(echo.port)]);
      try {
        await work();
      } finally {
        edge.replica.apply([routeOp(origin.port)]);
      }
    };

    test("the edge forwards a response, removes hop-by-hop fields and adds its ray", async () => {
      const { status, headers, body, code } = await fetchOver(edge.session(), { ":path": "/length" });
      assert.deepEqual([status, body, code], [200, "hello", 0]);
      assert.equal(headers["content-length"], "5");
      assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
      assert.equal(headers["etag"], "1");
      assert.equal(headers["x-high"], "caf\xe9");
      assert.match(String(headers["svc-ray"]), /^[0-9a-f]{16}$/);
      assert.deepEqual(
        Reflect.get(headers, sensitiveHeaders),
        ["set-cookie", "set-cookie", "svc-ray"],
        "credentials, and what no other response has, are kept out of the table that compresses the fields of later responses",
      );
      assert.ok(Math.abs(Date.parse(String(headers["date"])) - Date.now()) < 5_000, "RFC 9110 6.6.1: the time it came");
      for (const name of ["connection", "x-hop", "keep-alive", "http2-settings"]) assert.equal(headers[name], undefined, name);
    });

    test("the origin gets an HTTP/1.1 request with one Host field, joined cookies and the edge's own fields", async () => {
      await fetchOver(edge.session(), {
        ":path": "/empty?q=1",
        "x-forwarded-for": "1.2.3.4",
        "svc-connecting-ip": "1.2.3.4",
        cookie: ["a=1", "b=2"],
        te: "trailers",
        host: "WWW.example.com",
        "x-kept": "yes",
      });
      const head = heads.at(-1)!;
      assert.match(head, /^GET \/empty\?q=1 HTTP\/1\.1\r\nHost: www\.example\.com\r\n/);
      assert.equal(head.match(/host:/gi)?.length, 1);
      assert.match(head, /\r\ncookie: a=1; b=2\r\n/);
      assert.match(head, /\r\nx-kept: yes\r\n/);
      assert.match(head, /\r\nX-Forwarded-For: 127\.0\.0\.1\r\nX-Forwarded-Proto: https\r\n/);
      assert.match(head, /\r\nTE: trailers\r\nConnection: TE\r\n/);
      assert.doesNotMatch(head, /1\.2\.3\.4|transfer-encoding|content-length/i);
      await eventually(() => edge.requests.some(({ path, query, scheme }) => path === "/empty" && query === "q=1" && scheme === "https"));
    });

    test("the edge forwards chunked bodies with trailers, bodies that end with the connection, and responses without a body", async () => {
      const session = edge.session();
      const chunked = await fetchOver(session, { ":path": "/chunked" });
      assert.deepEqual([chunked.body, chunked.trailers["x-sum"], chunked.code], ["hello world", "11", 0]);
      assert.equal((await fetchOver(session, { ":path": "/eof" })).body, "until the end");
      const rows: readonly (readonly [path: string, status: number, length: string | undefined])[] = [
        ["/204", 204, undefined],
        ["/205", 205, undefined],
        ["/304", 304, "100"],
        ["/empty", 200, "0"],
      ];
      for (const [path, status, length] of rows) {
        const answer = await fetchOver(session, { ":path": path });
        assert.deepEqual([answer.status, answer.headers["content-length"], answer.body, answer.code], [status, length, "", 0], path);
      }
      const head = await fetchOver(session, { ":path": "/head", ":method": "HEAD" });
      assert.deepEqual([head.headers["content-length"], head.body, head.code], ["1000", "", 0]);
    });

    test("the client gets early hints before the response", async () => {
      const { interim, body } = await fetchOver(edge.session(), { ":path": "/hints" });
      assert.equal(interim.length, 1);
      assert.equal(interim[0]![":status"], 103);
      assert.equal(interim[0]!["link"], "</a.css>; rel=preload, </b.css>; rel=preload");
      assert.equal(body, "ok");
    });

    test("if the origin breaks off, the edge resets the stream and never ends it normally, and other streams continue", async () => {
      const session = edge.session();
      for (const path of ["/short", "/chunk-cut"]) {
        const answer = await fetchOver(session, { ":path": path });
        assert.deepEqual([answer.status, answer.code], [200, 2], path);
      }
      for (const path of ["/malformed", "/999", "/switch"]) {
        const answer = await fetchOver(session, { ":path": path });
        assert.deepEqual([answer.status, answer.code], [520, 0], path);
        assert.match(answer.body, /Unknown origin error/);
      }
      assert.equal((await fetchOver(session, { ":path": "/length" })).body, "hello");
    });

    test("request bodies go to the origin with a length or in chunks, with trailers", async () => {
      const body = randomBytes(2_000_000);
      const digest = createHash("sha256").update(body).digest("hex");
      await withEcho(async () => {
        const session = edge.session();
        const byLength = await fetchOver(session, { ":method": "POST", "content-length": body.length }, body);
        assert.equal(byLength.body, digest);
        assert.match(String(byLength.headers["x-seen"]), /"content-length":"2000000"/);
        const chunked = await fetchOver(session, { ":method": "POST" }, body);
        assert.equal(chunked.body, digest);
        assert.match(String(chunked.headers["x-seen"]), /"transfer-encoding":"chunked"/);
        const stream = session.request({ ":method": "POST", ":authority": "www.example.com" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "2" }));
        const answer = answerOf(stream);
        stream.end("ab");
        assert.equal((await answer).headers["x-trailers"], '{"x-sum":"2"}');
        for (const length of [0, 2]) {
          const small = await fetchOver(session, { ":method": "POST", "content-length": length }, "ab".slice(0, length));
          assert.equal(small.body, createHash("sha256").update("ab".slice(0, length)).digest("hex"));
        }
      });
    });

    test("the origin decides whether the client gets 100 Continue", async () => {
      await withEcho(async () => {
        const stream = edge
          .session()
          .request({ ":method": "POST", ":authority": "www.example.com", expect: "100-continue" }, { endStream: false });
        const answer = answerOf(stream);
        stream.once("continue", () => stream.end("ab"));
        assert.equal((await answer).body, createHash("sha256").update("ab").digest("hex"));
      });
    });

    test("one stream can send and receive at the same time", async () => {
      await withEcho(async () => {
        const stream = edge.session().request({ ":path": "/stream", ":method": "POST", ":authority": "www.example.com" });
        const answer = answerOf(stream);
        const body = randomBytes(1_000_000).toString("latin1");
        stream.end(Buffer.from(body, "latin1"));
        assert.ok((await answer).body === body);
      });
    });

    test("error pages go out over HTTP/2, also if the edge has not read the request body", async () => {
      const session = edge.session();
      edge.replica.apply([
        rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [
          { action: "block", expression: 'http.request.uri.path eq "/blocked"', description: "" },
        ]),
      ]);
      const blocked = await fetchOver(session, { ":path": "/blocked", accept: "application/json" });
      assert.equal(blocked.status, 403);
      assert.equal(JSON.parse(blocked.body).errors[0].code, 1020);
      const upload = await fetchOver(session, { ":path": "/blocked", ":method": "POST" }, randomBytes(500_000));
      assert.deepEqual([upload.status, upload.code], [403, 0]);
      const head = await fetchOver(session, { ":path": "/blocked", ":method": "HEAD" });
      assert.deepEqual([head.status, head.body], [403, ""]);
      assert.equal((await fetchOver(session, { ":authority": "elsewhere.example.org" })).status, 530);
      assert.equal((await fetchOver(session, { ":path": "/length" })).body, "hello");
      edge.replica.apply([{ kind: "ruleset", id: "fw", value: null }]);
    });

    test("the edge waits for a slow client and for a slow origin, and the body arrives complete", async () => {
      const size = 32 * 1024 * 1024;
      const sockets: Socket[] = [];
      let received = 0;
      const slow = await rawOrigin((socket) => {
        sockets.push(socket);
        socket.on("data", (bytes) => {
          received += bytes.length;
          const head = bytes.subarray(0, 4).toString();
          if (head === "POST") {
            received -= bytes.indexOf("\r\n\r\n") + 4;
            socket.pause();
          } else if (head === "GET ") {
            socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
            socket.write(Buffer.alloc(size));
          } else if (received === size) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
      });
      edge.replica.apply([routeOp(slow.port)]);
      const session = edge.session();
      const settled = async (left: () => number): Promise<number> => {
        for (let before = -1; left() !== before; await new Promise((done) => setTimeout(done, 200))) before = left();
        return left();
      };
      const upload = session.request({ ":method": "POST", ":authority": "www.example.com", "content-length": size });
      const uploaded = answerOf(upload);
      upload.end(Buffer.alloc(size));
      await eventually(() => sockets[0]?.isPaused() === true);
      // The kernel's buffers hold a few megabytes on the way.
      assert.ok((await settled(() => received)) < size / 2);
      sockets[0]!.resume();
      assert.deepEqual([(await uploaded).body, received], ["ok", size]);

      const download = session.request({ ":authority": "www.example.com" });
      await once(download, "response");
      download.pause();
      assert.ok((await settled(() => sockets.at(-1)!.writableLength)) > 0, "the origin waits");
      let taken = 0;
      download.on("data", (bytes: Buffer) => (taken += bytes.length)).resume();
      await once(download, "end");
      assert.equal(taken, size);
      edge.replica.apply([routeOp(origin.port)]);
      slow.close();
    });

    test("cached responses and added header fields equal those over HTTP/1.1", async () => {
      let asked = 0;
      const cached = await httpOrigin((_req, res) => {
        asked++;
        res.setHeader("cache-control", "max-age=60");
        res.end("x".repeat(200_000));
      });
      const header = { enabled: true, max_age: 60, include_subdomains: false, preload: false, nosniff: true };
      edge.replica.apply([routeOp(cached.port), zoneOp("zone", "example.com", { edge: { security_header: header } })]);
      const session = edge.session();
      const answers = [];
      for (let i = 0; i < 3; i++) answers.push(await fetchOver(session, { ":path": "/app.css" }));
      assert.equal(asked, 1);
      assert.deepEqual(
        answers.map(({ headers, body }) => [headers["svc-cache-status"], body.length]),
        [
          ["MISS", 200_000],
          ["HIT", 200_000],
          ["HIT", 200_000],
        ],
      );
      const part = await fetchOver(session, { ":path": "/app.css", range: "bytes=1-5" });
      assert.deepEqual([part.status, part.body, part.code], [206, "xxxxx", 0]);
      const head = await fetchOver(session, { ":path": "/app.css", ":method": "HEAD" });
      assert.deepEqual([head.headers["content-length"], head.body, head.code], ["200000", "", 0]);
      const page = await fetchOver(session, { ":authority": "other.example.com" });
      for (const { headers } of [...answers, page]) assert.equal(headers["strict-transport-security"], "max-age=60");
      edge.replica.apply([routeOp(origin.port), zoneOp("zone", "example.com")]);
      cached.close();
    });

    test("a client that disconnects cancels its origin request", async () => {
      let closed = 0;
      const slow = await rawOrigin((socket) => {
        socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"));
        socket.on("close", () => closed++);
        socket.on("end", () => socket.end());
      });
      edge.replica.apply([routeOp(slow.port)]);
      const session = edge.session();
      const stream = session.request({ ":path": "/gone", ":authority": "www.example.com" });
      stream.on("error", () => undefined);
      stream.on("response", () => stream.close(8));
      await eventually(() => closed === 1);
      const quit = edge.session();
      quit
        .request({ ":path": "/gone", ":authority": "www.example.com" })
        .on("error", () => undefined)
        .on("response", () => quit.destroy());
      await eventually(() => closed === 2);
      edge.replica.apply([routeOp(origin.port)]);
      await eventually(() => edge.requests.filter(({ path }) => path === "/gone").length === 2);
      slow.close();
    });

    test("a connection survives any number of responses that its client resets", async (t) => {
      const site = await startSecureEdge(origin.port, { http2ResetsMax: 10_000 }, { socketCalls });
      t.after(() => site.close());
      const session = site.session();
      const reset = (): Promise<boolean> => {
        const stream = session.request({ ":path": "/big", ":authority": "www.example.com" });
        let hasAnswer = false;
        // Unread, so that a part of the response waits at the edge when the stream is reset.
        stream
          .on("error", () => undefined)
          .on("response", () => {
            hasAnswer = true;
            setTimeout(() => stream.close(8), 10);
          });
        return new Promise((resolve) => stream.on("close", () => resolve(hasAnswer)));
      };
      for (let i = 0; i < 60; i++) assert.deepEqual(await Promise.all(Array.from({ length: 8 }, reset)), Array(8).fill(true), `${i}`);
      assert.equal((await fetchOver(session, { ":path": "/length" })).body, "hello");
    });

    test("an error of the edge itself costs one stream, and is counted", async () => {
      const faulty = await startSecureEdge(origin.port, {}, { socketCalls });
      const keep = faulty.requests.push.bind(faulty.requests);
      faulty.requests.push = (...rows) => {
        if (rows[0]?.path === "/204") throw new Error("no place for this row");
        return keep(...rows);
      };
      const session = faulty.session();
      const [good, bad] = await Promise.all([fetchOver(session, { ":path": "/big" }), fetchOver(session, { ":path": "/204" })]);
      assert.equal(good.body.length, 3_000_000);
      assert.notEqual(bad.code, 8);
      assert.equal((await fetchOver(session, { ":path": "/length" })).body, "hello");
      assert.deepEqual(
        faulty.errors.map((error) => (error as Error).message),
        ["no place for this row"],
      );
      await faulty.close();
    });

    test("a zone can turn HTTP/2 off, and a client without a common protocol gets an alert", async () => {
      const agreed = (ALPNProtocols: string[]): Promise<string | false | null> =>
        new Promise((resolve, reject) => {
          const socket = connectTls(
            { port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: edge.rootPem, ALPNProtocols },
            () => {
              resolve(socket.alpnProtocol);
              socket.destroy();
            },
          );
          socket.on("error", reject);
        });
      assert.equal(await agreed(["http/1.1", "h2"]), "h2");
      assert.equal(await agreed(["http/1.1"]), "http/1.1");
      await assert.rejects(agreed(["h3"]), { code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL" });
      edge.replica.apply([zoneOp("zone", "example.com", { edge: { http2: false } })]);
      assert.equal(await agreed(["http/1.1", "h2"]), "http/1.1");
      await assert.rejects(agreed(["h2"]));
      edge.replica.apply([zoneOp("zone", "example.com")]);
    });
  });
}
