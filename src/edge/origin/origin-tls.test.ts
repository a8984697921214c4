import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttpsServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { after, before, test } from "node:test";
import { connect, createSecureContext, type TLSSocket } from "node:tls";
import { createLocalCa, createRoot, type IssuedCertificate } from "#acme/local-ca.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { exchangeRaw, rawOrigin, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";

/** The origin's view of a request. */
interface Seen {
  readonly host: string;
  readonly serverName: string;
  readonly resumed: boolean;
  readonly alpn: string;
}

const root = await createRoot(systemClock);
const ca = createLocalCa({ root, clock: systemClock });
const stranger = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
const seen: Seen[] = [];
let edge: TestEdge;
const servers: Server[] = [];

/** An HTTPS origin with this certificate, whatever name is requested. */
async function httpsOrigin(issued: IssuedCertificate, options: object = {}): Promise<number> {
  const server = createHttpsServer(
    { cert: issued.chain, key: issued.privateKey, ...options },
    (req: IncomingMessage, res: ServerResponse) => {
      const socket = req.socket as TLSSocket & { servername?: string | false };
      seen.push({
        host: req.headers.host ?? "",
        serverName: socket.servername || "",
        resumed: socket.isSessionReused(),
        alpn: socket.alpnProtocol || "",
      });
      req.pipe(res);
    },
  );
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

before(async () => {
  edge = await startEdge([], {}, { originIdleTimeoutMs: 100, connectTimeoutMs: 3_000 }, [root.certificate]);
  const front = await ca.issue(["example.com", "*.example.com"]);
  edge.replica.apply([
    {
      kind: "certificate",
      id: "front",
      value: {
        zone_id: "zone",
        hosts: ["example.com", "*.example.com"],
        chain: front.chain,
        private_key: edge.sealer.seal(front.privateKey, "certificate:front"),
        not_after: front.notAfter,
      },
    },
  ]);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

function site(ssl: EdgeSettings["ssl"], port: number, parameters: object = {}): void {
  edge.replica.apply([
    zoneOp("zone", "example.com", { edge: { ssl } }),
    recordOp("www", "zone", "www.example.com", "A", "127.0.0.1"),
    rulesetOp("route", "zone", "zone", "http_request_origin", [
      { action: "route", expression: "true", action_parameters: { origin: { port }, ...parameters } },
    ]),
  ] satisfies Op[]);
}

const REQUEST = "POST / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";

/** Sends a request over HTTPS and returns everything received. */
const visit = (request = REQUEST): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: root.certificate });
    socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(request);
  });

const keyPair = (issued: IssuedCertificate) => ({ cert: issued.chain, key: issued.privateKey });

/** The payload of a valid chunked body. */
function dechunk(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (!(length > 0)) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}

const status = (response: string): string => response.slice(9, 12);

/** Results of each mode by the origin's certificate, for visitors over HTTPS. */
const MODES: readonly (readonly [ssl: EdgeSettings["ssl"], trusted: string, otherName: string, unknown: string, expired: string])[] = [
  ["full", "200", "200", "200", "200"],
  ["strict", "200", "526", "526", "526"],
];
for (const [ssl, ...expected] of MODES) {
  test(`${ssl}: the edge gets a trusted certificate, one with another name, an untrusted and an expired one`, async () => {
    const longAgo = createLocalCa({ root, clock: fixedClock("2020-01-01T00:00:00Z") });
    const certificates = [
      await ca.issue(["www.example.com"]),
      await ca.issue(["other.example.com"]),
      await stranger.issue(["www.example.com"]),
      await longAgo.issue(["www.example.com"]),
    ];
    const statuses: string[] = [];
    for (const certificate of certificates) {
      site(ssl, await httpsOrigin(certificate));
      // Twice: neither the connection nor its session may make the second request easier.
      const [first, second] = [await visit(), await visit()];
      assert.equal(status(first), status(second));
      statuses.push(status(second));
    }
    assert.deepEqual(statuses, expected);
    assert.ok(seen.every(({ serverName, alpn }) => serverName === "www.example.com" && alpn === "http/1.1"));
  });
}

test("a zone that verifies certificates never reuses a connection or session that was made without verification", async () => {
  const port = await httpsOrigin(await stranger.issue(["www.example.com"]));
  site("full", port);
  assert.equal(status(await visit()), "200");
  site("strict", port);
  assert.equal(status(await visit()), "526");
  site("full", port);
  assert.equal(status(await visit()), "200");
});

test("a certificate that is verified for one server name does not count for another", async () => {
  const port = await httpsOrigin(await ca.issue(["www.example.com"]));
  site("strict", port);
  assert.equal(status(await visit()), "200");
  site("strict", port, { sni: { value: "api.example.com" } });
  assert.equal(status(await visit()), "526");
});

test("the edge connects to the origin over HTTP for clients over HTTP, in every mode, and in the mode flexible for all clients", async () => {
  const origin = await rawOrigin((socket) => void socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")));
  for (const ssl of ["off", "flexible", "full", "strict"] as const) {
    site(ssl, origin.port);
    assert.match(await exchangeRaw(edge.http, REQUEST), /^HTTP\/1\.1 200 [^]*ok$/, ssl);
  }
  site("flexible", origin.port);
  assert.equal(status(await visit()), "200");
  origin.close();
});

test("the server name is a rule's sni, else its host_header, else the client's host", async () => {
  const port = await httpsOrigin(await ca.issue(["www.example.com", "a.example.net", "b.example.net"]));
  const asked = async (parameters: object): Promise<readonly string[]> => {
    site("strict", port, parameters);
    assert.equal(status(await visit()), "200");
    return [seen.at(-1)!.host, seen.at(-1)!.serverName];
  };
  assert.deepEqual(await asked({}), ["www.example.com", "www.example.com"]);
  assert.deepEqual(await asked({ host_header: "a.example.net" }), ["a.example.net", "a.example.net"]);
  assert.deepEqual(await asked({ host_header: "a.example.net", sni: { value: "b.example.net" } }), ["a.example.net", "b.example.net"]);
});

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`the edge resumes TLS sessions with the origin over ${version}`, async () => {
    const port = await httpsOrigin(await ca.issue(["www.example.com"]), { minVersion: version, maxVersion: version });
    site("strict", port);
    const before = seen.length;
    assert.equal(status(await visit()), "200");
    // The first connection is closed as idle before the second request.
    await eventually(() => edge.metrics.samples().some(({ name, value }) => name === "selvedge_edge_origin_connections" && value === 0));
    assert.equal(status(await visit()), "200");
    assert.deepEqual(
      seen.slice(before).map(({ resumed }) => resumed),
      [false, true],
    );
  });
}

test("a large response and a large request arrive complete, however slowly they are read", async () => {
  const port = await httpsOrigin(await ca.issue(["www.example.com"]));
  site("strict", port);
  const body = randomBytes(3_000_000);
  const pieces: Buffer[] = [];
  const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: root.certificate });
  socket.write(`POST / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
  socket.write(body);
  socket.on("data", (bytes: Buffer) => {
    pieces.push(bytes);
    socket.pause();
    setTimeout(() => socket.resume(), 1);
  });
  await once(socket, "close");
  const response = Buffer.concat(pieces);
  const payload = dechunk(response.subarray(response.indexOf("\r\n\r\n") + 4));
  assert.equal(Buffer.compare(payload, body), 0);
});

test("the edge does not buffer a response that its client does not read", async () => {
  let sent = 0;
  const server = createHttpsServer(keyPair(await ca.issue(["www.example.com"])), (_req, res) => {
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
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  site("full", (server.address() as AddressInfo).port);
  const socket = connect({ port: edge.https, host: "127.0.0.1", servername: "www.example.com", ca: root.certificate });
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
  await eventually(() => sent > 1_000_000);
  let before = -1;
  while (before !== sent) {
    before = sent;
    await new Promise((done) => setTimeout(done, 200));
  }
  assert.ok(sent < 64_000_000, `the origin was read ahead: ${sent}`);
  socket.destroy();
  await eventually(() => edge.requests.at(-1)?.bytes_out !== undefined && edge.requests.at(-1)!.bytes_out > 100_000);
});

test("an upgraded connection over TLS becomes a tunnel, and each direction ends by itself", async () => {
  const server = createHttpsServer(keyPair(await ca.issue(["www.example.com"])));
  servers.push(server);
  server.on("upgrade", (_req: IncomingMessage, socket: Socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.on("data", (bytes) => socket.write(bytes));
    socket.on("end", () => socket.end("bye"));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  site("strict", (server.address() as AddressInfo).port);
  const socket = connect({
    port: edge.https,
    host: "127.0.0.1",
    servername: "www.example.com",
    ca: root.certificate,
    allowHalfOpen: true,
  } as object);
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  socket.write("GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  await eventually(() => text.endsWith("\r\n\r\n"));
  socket.write("hello");
  await eventually(() => text.endsWith("hello"));
  socket.end();
  await once(socket, "end");
  assert.match(text, /^HTTP\/1\.1 101 [^]*\r\n\r\nhellobye$/);
});

/** Servers with which no handshake is possible. */
const NO_HANDSHAKE: readonly (readonly [why: string, onSocket: (socket: Socket) => void])[] = [
  ["speaks plain HTTP", (socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))],
  ["closes at once", (socket) => void socket.end()],
  ["resets", (socket) => void socket.once("data", () => socket.resetAndDestroy())],
  ["says nothing", () => undefined],
];
for (const [why, onSocket] of NO_HANDSHAKE) {
  test(`an origin that ${why} where TLS is expected gives 525, and gets nothing of the request`, async () => {
    let received = "";
    const origin = await rawOrigin((socket) => {
      socket.on("data", (bytes) => (received += bytes.toString("latin1")));
      onSocket(socket);
    });
    site("full", origin.port);
    const response = await visit();
    assert.equal(status(response), "525");
    assert.doesNotMatch(received, /hello|POST/);
    await eventually(() => edge.requests.at(-1)?.status === 525);
    assert.equal(edge.requests.at(-1)!.origin_status, null);
    origin.close();
  });
}

test("an origin that requires a client certificate gives 525", async () => {
  const port = await httpsOrigin(await ca.issue(["www.example.com"]), {
    requestCert: true,
    rejectUnauthorized: true,
    ca: root.certificate,
  });
  site("full", port);
  assert.equal(status(await visit()), "525");
});

test("if one address has a bad certificate, the edge tries the next one", async () => {
  const good = await ca.issue(["www.example.com"]);
  const bad = await stranger.issue(["www.example.com"]);
  const port = await httpsOrigin(good);
  const server = createHttpsServer({
    SNICallback: (_name, done) => done(null, createSecureContext({ cert: bad.chain, key: bad.privateKey })),
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(port, "127.0.0.2", done));
  site("strict", port);
  edge.replica.apply([recordOp("www2", "zone", "www.example.com", "A", "127.0.0.2")]);
  for (let i = 0; i < 4; i++) assert.equal(status(await visit()), "200");
  edge.replica.apply([{ kind: "record", id: "www2", value: null }]);
});

test("a configuration rule turns TLS to the origin on for matching requests, whatever the zone's mode", async () => {
  const port = await httpsOrigin(await ca.issue(["www.example.com"]));
  site("flexible", port);
  const rule = { action: "set_config", expression: 'http.request.headers["x-mode"][0] eq "strict"', action_parameters: { ssl: "strict" } };
  edge.replica.apply([rulesetOp("config", "zone", "zone", "http_config_settings", [rule])]);
  seen.length = 0;
  assert.match(await visit(REQUEST.replace("Host", "X-Mode: strict\r\nHost")), /^HTTP\/1\.1 200 /);
  assert.deepEqual(
    seen.map(({ serverName }) => serverName),
    ["www.example.com"],
  );
  // Plain HTTP to a TLS port: nothing of the origin's content comes back.
  assert.doesNotMatch(await visit(), /^HTTP\/1\.1 200 /);
  assert.equal(seen.length, 1);
  edge.replica.apply([{ kind: "ruleset", id: "config", value: null }]);
});
