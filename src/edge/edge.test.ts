import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import {
  exchangeRaw,
  httpOrigin,
  pathOrigin,
  rawClient,
  rawOrigin,
  routeOp,
  siteOps,
  startEdge,
  type TestEdge,
  type TestOrigin,
} from "#edge/testing/edge.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { eventually } from "../../test/support/eventually.ts";
import { acceptOf } from "../../test/support/websocket-server.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

/** An origin that answers by path with exact bytes, and keeps its connections open. */
const RESPONSES: Readonly<Record<string, string>> = {
  "/chunked":
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n",
  "/length":
    "HTTP/1.1 200 OK\r\nContent-Length: 0005\r\nX-A: b\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nsvc-ray: forged\r\n\r\nhello",
  "/date": "HTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
  "/empty": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
  "/204": "HTTP/1.1 204 No Content\r\n\r\n",
  "/304": 'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\nETag: "a"\r\n\r\n',
  "/hints": "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "/eof": "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
  "/head": "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
  "/big": `HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n${"x".repeat(300_000)}`,
};

for (const socketCalls of [await loadSocketCalls(), null]) {
  describe(`with connections of ${socketCalls === null ? "Node.js" : "our own loop"}`, () => {
    let origin: TestOrigin;
    let edge: TestEdge;
    const seen: string[] = [];

    before(async () => {
      origin = await pathOrigin(RESPONSES, seen, new Set(["/eof"]));
      edge = await startEdge(siteOps(origin.port), { socketCalls });
    });
    after(async () => {
      await edge.close();
      origin.close();
    });

    const get = (path: string, more = "", version = "1.1", method = "GET") =>
      exchangeRaw(
        edge.http,
        `${method} ${path} HTTP/${version}\r\nHost: www.example.com\r\n${version === "1.1" ? "Connection: close\r\n" : ""}${more}\r\n`,
      );
    const body = (response: string) => response.slice(response.indexOf("\r\n\r\n") + 4);

    test("the edge forwards a response with Content-Length, removes hop-by-hop fields and adds its ray", async () => {
      const response = await get("/length");
      assert.match(response, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(response, /\r\nX-A: b\r\n/);
      assert.match(response, /\r\nContent-Length: 5\r\n/);
      assert.match(response, /\r\nsvc-ray: [0-9a-f]{16}\r\n/);
      assert.doesNotMatch(response, /x-hop|keep-alive|forged/i);
      assert.equal(body(response), "hello");
    });

    test("RFC 9110 6.6.1: the edge adds Date to a response that lacks it, and keeps an existing one", async () => {
      const from = Math.floor(Date.now() / 1000) * 1000;
      for (const path of ["/length", "/chunked", "/304", "/204"]) {
        const [date, ...others] = [...(await get(path)).matchAll(/\r\nDate: (.*)/g)].map((match) => Date.parse(match[1]!));
        assert.ok(date !== undefined && date >= from && date <= Date.now(), path);
        assert.deepEqual(others, []);
      }
      assert.deepEqual((await get("/date")).match(/date: .*/gi), ["date: Sun, 06 Nov 1994 08:49:37 GMT"]);
    });

    test("the edge forwards a chunked response with its trailers and without chunk extensions", async () => {
      const response = await get("/chunked");
      assert.match(response, /\r\nTransfer-Encoding: chunked\r\n/);
      assert.equal(body(response), "b\r\nhello world\r\n0\r\nX-Sum: 11\r\n\r\n");
    });

    test("an HTTP/1.0 client gets a chunked body without chunks, and keeps its connection if the response has a length", async () => {
      const plain = await get("/chunked", "", "1.0");
      assert.equal(body(plain), "hello world");
      assert.doesNotMatch(plain, /transfer-encoding/i);
      const client = rawClient(edge.http);
      for (let i = 1; i <= 2; i++) {
        client.send("GET /length HTTP/1.0\r\nHost: www.example.com\r\nConnection: keep-alive\r\n\r\n");
        const text = await client.until(new RegExp(`(?:hello[^]*){${i}}`));
        assert.match(text, /Connection: keep-alive\r\n/);
      }
      client.socket.destroy();
    });

    test("the edge sends a body that ends with the origin's connection in chunks", async () => {
      const response = await get("/eof");
      assert.match(response, /\r\nTransfer-Encoding: chunked\r\n/);
      assert.equal(body(response), "d\r\nuntil the end\r\n0\r\n\r\n");
      assert.equal(body(await get("/eof", "", "1.0")), "until the end");
    });

    test("a response that cannot have a body ends after its head", async () => {
      for (const path of ["/204", "/304", "/empty"]) assert.equal(body(await get(path)), "", path);
      assert.match(await get("/304"), /Content-Length: 100\r\n/);
      assert.doesNotMatch(await get("/204"), /content-length|transfer-encoding/i);
      const head = await get("/head", "", "1.1", "HEAD");
      assert.match(head, /Content-Length: 1000\r\n/);
      assert.equal(body(head), "");
    });

    test("the edge forwards early hints before the response, but not to HTTP/1.0 clients", async () => {
      const response = await get("/hints");
      assert.match(response, /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/);
      assert.match(await get("/hints", "", "1.0"), /^HTTP\/1\.1 200 OK/);
    });

    test("the edge answers pipelined requests in order, whether they arrive byte by byte or at once", async () => {
      const requests = ["/length", "/chunked", "/empty", "/204", "/length"]
        .map((path) => `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\n\r\n`)
        .join("\r\n");
      const last = "GET /head HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n".replace("/head", "/empty");
      const strip = (text: string) => text.replace(/svc-ray: \w+|Date: .*/g, "");
      const whole = strip(await exchangeRaw(edge.http, requests + last));
      assert.deepEqual(
        [...whole.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
        ["200", "200", "200", "204", "200", "200"],
      );
      const client = rawClient(edge.http);
      for (const character of requests + last) {
        client.send(character);
        await new Promise((done) => setImmediate(done));
      }
      assert.equal(strip(await client.closed()), whole);
    });

    test("the edge removes forwarding fields that a client sends, and sets its own", async () => {
      const names = [
        ...["X-Forwarded-For", "x_forwarded_for", "X-Forwarded-Proto", "X-Forwarded-Host", "x_forwarded-host", "X-Forwarded-Port"],
        ...[
          "X-Forwarded-Server",
          "X-Forwarded-Scheme",
          "X-Forwarded-Ssl",
          "X-Forwarded-Prefix",
          "Forwarded",
          "X-Real-IP",
          "True-Client-IP",
        ],
        ...["Client-IP", "X-Cluster-Client-IP", "fastly_client_ip", "WL-Proxy-Client-IP", "Forwarded-For", "X-Forwarded"],
        ...["X-Forwarded-Url", "X_Forwarded_Uri", "X-Original-Method", "X-Invoke-Status", "X-Now-Route-Matches", "X-Accel-Mapping"],
        ...["X-Sendfile-Type", "Front-End-Https"],
        ...["SVC-Connecting-IP", "svc_connecting_ip", "cf-connecting-ip", "CF-IPCountry", "cf_ray", "svc-ray", "svc-visitor", "Proxy"],
      ];
      await get("/empty", `${names.map((name) => `${name}: 1.2.3.4\r\n`).join("")}X-Kept: yes\r\nVia: 1.1 before\r\n`);
      const head = seen.at(-1)!;
      assert.match(
        head,
        /\r\nX-Forwarded-For: 127\.0\.0\.1\r\nX-Forwarded-Proto: http\r\nsvc-connecting-ip: 127\.0\.0\.1\r\nsvc-visitor: \{"scheme":"http"\}\r\nsvc-ray: [0-9a-f]{16}\r\nCDN-Loop: svc$/,
      );
      assert.match(head, /\r\nX-Kept: yes\r\nVia: 1\.1 before\r\n/);
      assert.match(head, /^GET \/empty HTTP\/1\.1\r\nHost: www\.example\.com\r\n/);
      assert.doesNotMatch(head, /1\.2\.3\.4|x_forwarded|x-forwarded-host|connection:/i);
    });

    test("W3C Trace Context: the edge passes the client's trace on to the origin", async () => {
      const trace = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\ntracestate: a=1,b=2\r\n";
      await get("/empty", trace);
      assert.ok(seen.at(-1)!.includes(`\r\n${trace}`));
    });

    test("the edge removes the management API's session cookie from requests to origins", async () => {
      await get("/empty", "Cookie: a=b; selvedge=SECRET\r\nX-Kept: yes\r\nCookie: __Host-selvedge=SECRET; c=d\r\n");
      const head = seen.at(-1)!;
      assert.match(head, /\r\nCookie: a=b; selvedge=xxxxxx\r\nX-Kept: yes\r\nCookie: __Host-selvedge=xxxxxx; c=d\r\n/);
      assert.doesNotMatch(head, /SECRET/);
    });

    test("the edge removes the management API's session cookie from responses of origins, and forwards other cookies", async () => {
      const setting = await httpOrigin((_req, res) => {
        res.setHeader("Set-Cookie", [
          "selvedge=theirs; Path=/",
          "a=selvedge=1",
          "=selvedge=theirs",
          "__Host-selvedge=theirs; Secure",
          "b=2",
        ]);
        res.end();
      });
      const site = await startEdge(siteOps(setting.port));
      try {
        const response = await exchangeRaw(site.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
        assert.deepEqual(response.match(/set-cookie: .*/gi), ["Set-Cookie: a=selvedge=1", "Set-Cookie: b=2"]);
      } finally {
        await site.close();
        setting.close();
      }
    });

    test("the edge drops trailers that a client may not send as header fields, or that rules remove", async () => {
      const merging = await httpOrigin((req, res) => req.resume().on("end", () => res.end(JSON.stringify(req.trailers))));
      const without = { headers: { "x-staff": { operation: "remove" }, "x-set": { operation: "set", value: "ours" } } };
      const rules = [{ action: "rewrite", expression: "true", action_parameters: without }];
      const site = await startEdge([...siteOps(merging.port), rulesetOp("late", "zone", "zone", "http_request_late_transform", rules)]);
      const forbidden = [
        ...["X-Forwarded-For", "x_forwarded_for", "X-Real-IP", "Client-IP", "SVC-Connecting-IP", "cf-connecting-ip", "Forwarded"],
        ...["Proxy", "Transfer_Encoding", "content_length", "Content_Type", "HTTP2-Settings", "X-Staff", "X-Set"],
      ];
      const trailers = [...forbidden, "X-Sum"].map((name) => `${name}: 1.2.3.4\r\n`).join("");
      try {
        const response = await exchangeRaw(
          site.http,
          `POST / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n${trailers}\r\n`,
        );
        assert.match(response, /\{"x-sum":"1\.2\.3\.4"\}/);
      } finally {
        await site.close();
        merging.close();
      }
    });

    test("an origin whose Host header a rule changes gets the client's host in X-Forwarded-Host", async () => {
      const route = edge.replica.snapshot.get("ruleset", "route");
      const parameters = { origin: { port: origin.port }, host_header: "inside.example" };
      edge.replica.apply([
        rulesetOp("route", "zone", "zone", "http_request_origin", [{ action: "route", expression: "true", action_parameters: parameters }]),
      ]);
      await get("/empty", "X-Forwarded-Host: evil.example\r\n");
      assert.match(seen.at(-1)!, /^GET \/empty HTTP\/1\.1\r\nHost: inside\.example\r\n/);
      assert.match(seen.at(-1)!, /\r\nX-Forwarded-Host: www\.example\.com\r\n/);
      assert.doesNotMatch(seen.at(-1)!, /evil/);
      edge.replica.apply([{ kind: "ruleset", id: "route", value: route ?? null }]);
    });

    test("a large body arrives complete", async () => {
      const response = await get("/big");
      assert.equal(body(response).length, 300_000);
    });

    test("each request makes one row", async () => {
      edge.requests.length = 0;
      await get("/length?a=b", "User-Agent: test/1\r\n");
      await exchangeRaw(edge.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nHost: x\r\n\r\n");
      await exchangeRaw(edge.http, "GET /secret HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n");
      await eventually(() => edge.requests.length === 3);
      const [good, bad, unrouted] = edge.requests;
      assert.deepEqual(
        [
          good!.zone_id,
          good!.account_id,
          good!.method,
          good!.host,
          good!.path,
          good!.query,
          good!.user_agent,
          good!.status,
          good!.origin_status,
        ],
        ["zone", "account", "GET", "www.example.com", "/length", "a=b", "test/1", 404, 404],
      );
      assert.ok(good!.bytes_in > 50 && good!.bytes_out > 50);
      assert.deepEqual([bad!.status, bad!.zone_id], [400, ""]);
      assert.deepEqual([unrouted!.status, unrouted!.host, unrouted!.origin_status], [530, "other.example", null]);
    });

    test("uploads arrive complete, with a length or in chunks, and with trailers", async () => {
      const upload = await httpOrigin((req, res) => {
        const hash = createHash("sha256");
        let bytes = 0;
        req.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          hash.update(chunk);
        });
        req.on("end", () =>
          res.end(
            JSON.stringify({ bytes, hash: hash.digest("hex"), trailers: req.trailers, length: req.headers["content-length"] ?? null }),
          ),
        );
      });
      const site = await startEdge(siteOps(upload.port));
      const data = Buffer.alloc(3_000_000, "0123456789abcdef");
      const expected = createHash("sha256").update(data).digest("hex");
      const send = (chunked: boolean) =>
        new Promise<Record<string, unknown>>((resolve, reject) => {
          const req = request(
            {
              port: site.http,
              method: "POST",
              headers: { host: "www.example.com", ...(chunked ? { trailer: "x-sum" } : { "content-length": data.length }) },
            },
            (res) => {
              let text = "";
              res.on("data", (chunk: Buffer) => (text += chunk.toString()));
              res.on("end", () => resolve(JSON.parse(text) as Record<string, unknown>));
            },
          );
          req.on("error", reject);
          if (chunked) req.addTrailers({ "x-sum": "1" });
          for (let at = 0; at < data.length; at += 100_000) req.write(data.subarray(at, at + 100_000));
          req.end();
        });
      try {
        assert.deepEqual(await send(false), { bytes: data.length, hash: expected, trailers: {}, length: String(data.length) });
        assert.deepEqual(await send(true), { bytes: data.length, hash: expected, trailers: { "x-sum": "1" }, length: null });
      } finally {
        await site.close();
        upload.close();
      }
    });

    test("the origin decides whether the client gets 100 Continue", async () => {
      const careful = await httpOrigin((req, res) => req.resume().on("end", () => res.end("thanks")));
      const site = await startEdge(siteOps(careful.port));
      try {
        const granted = rawClient(site.http);
        granted.send("POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
        assert.match(await granted.until(/\r\n\r\n/), /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
        granted.send("body");
        assert.match(await granted.until(/thanks/), /HTTP\/1\.1 200 OK/);
        granted.socket.destroy();
      } finally {
        await site.close();
        careful.close();
      }
      const denying = await rawOrigin((socket) =>
        socket.once("data", () => socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")),
      );
      const other = await startEdge(siteOps(denying.port));
      try {
        const denied = await exchangeRaw(
          other.http,
          "POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 4000000\r\nExpect: 100-continue\r\n\r\n",
        );
        assert.match(denied, /^HTTP\/1\.1 413 Too Large\r\n[^]*\r\n\r\n$/);
      } finally {
        await other.close();
        denying.close();
      }
    });

    test("an upgrade makes a tunnel in both directions, but not to another version of HTTP", async () => {
      const heads: string[] = [];
      const echo = await rawOrigin((socket) => {
        socket.once("data", (bytes) => {
          heads.push(bytes.toString());
          if (!/upgrade: websocket/i.test(bytes.toString())) return void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf("k")}\r\n\r\nfirst;`,
          );
          socket.on("data", (more) => void socket.write(more));
        });
        socket.on("end", () => socket.end());
      });
      const site = await startEdge(siteOps(echo.port));
      try {
        const client = rawClient(site.http);
        client.send(
          "GET /ws HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\nearly;",
        );
        assert.match(
          await client.until(/first;early;/),
          /^HTTP\/1\.1 101 Switching Protocols\r\n[^]*Connection: Upgrade\r\nUpgrade: websocket\r\n/,
        );
        const large = "y".repeat(200_000);
        client.send(large);
        await eventually(() => client.received().length > 200_000);
        client.socket.end();
        await client.closed();
        await eventually(() => site.requests.some((row) => row.status === 101));
        const refused = await exchangeRaw(
          site.http,
          "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
        );
        assert.match(refused, /^HTTP\/1\.1 200/);
        assert.doesNotMatch(heads.at(-1)!, /upgrade|http2-settings/i);
      } finally {
        await site.close();
        echo.close();
      }
    });

    test("the edge reuses connections to the origin", async () => {
      let connections = 0;
      const kept = await httpOrigin((_req, res) => res.end("ok"));
      const counting = await rawOrigin((socket) => {
        connections++;
        socket.on("data", () => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
      });
      const site = await startEdge(siteOps(counting.port));
      for (let i = 0; i < 5; i++)
        assert.match(await exchangeRaw(site.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"), /ok$/);
      assert.equal(connections, 1);
      site.replica.apply([routeOp(kept.port)]);
      assert.match(await exchangeRaw(site.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"), /Date:[^]*ok$/);
      await site.close();
      kept.close();
      counting.close();
    });

    test("a draining edge finishes the current response, then closes the connection", async () => {
      let answer: (() => void) | undefined;
      const slow = await httpOrigin((_req, res) => (answer = () => res.end("late")));
      const site = await startEdge(siteOps(slow.port));
      const idle = rawClient(site.http);
      const busy = rawClient(site.http);
      busy.send("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
      await eventually(() => answer !== undefined);
      const closing = site.close(5_000);
      await idle.closed();
      answer?.();
      const text = await busy.closed();
      assert.match(text, /Connection: close\r\n[^]*late$/);
      await closing;
      slow.close();
    });

    test("the edge has thrown no unexpected error", () => assert.deepEqual(edge.errors, []));
  });
}
