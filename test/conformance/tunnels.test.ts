import assert from "node:assert/strict";
import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, test } from "node:test";
import { EdgeConnection } from "#app/tunnel/edge-connection.ts";
import { FRAME } from "#wire/tunnel/frames.ts";
import { eventually } from "../support/eventually.ts";
import { OTHERS, type Service, SILENT, startService, startTunnelledEdge, TUNNEL, type TunnelledEdge } from "../support/tunnels.ts";
import { acceptOf } from "../support/websocket-server.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
const edgeOf = async (...given: Parameters<typeof startTunnelledEdge>): Promise<TunnelledEdge> => {
  const edge = await startTunnelledEdge(...given);
  closing.push(() => edge.close());
  return edge;
};
const serviceOf = async (answer: Parameters<typeof startService>[0]): Promise<Service> => {
  const service = await startService(answer);
  closing.push(service.close);
  return service;
};

interface Asked {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

interface Asking {
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
  readonly agent?: Agent;
}

/** A request of a visitor. */
const ask = (edge: TunnelledEdge, path: string, { host = "www.example.com", body, ...more }: Asking = {}): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const { headers, method = body === undefined ? "GET" : "POST", agent = false } = more;
    const asked = request({ host: "127.0.0.1", port: edge.http, path, method, agent, headers: { host, ...headers } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    if (body instanceof Readable) body.pipe(asked);
    else asked.end(body);
  });

const toService = ({ port }: { readonly port: number }) => ({ ingress: [{ service: `http://127.0.0.1:${port}` }] });
const echo: Parameters<typeof startService>[0] = (asked, answer) => {
  answer.writeHead(200, { "content-type": "text/plain", "x-method": asked.method ?? "", "x-path": asked.url ?? "" });
  asked.pipe(answer);
};

test("requests of an account's host name reach its tunnel, by either name, and nobody else's", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  const before = await ask(edge, "/");
  assert.deepEqual([before.status, before.body.includes("1033")], [530, true], "no connector");
  const connector = edge.connect(toService(service));
  const theirs = edge.connect(toService(service), { token: edge.token(undefined, OTHERS) });
  await Promise.all([connector.serving, theirs.serving]);
  for (const host of ["www.example.com", "published.example.com"]) {
    const answer = await ask(edge, "/a?b=c", { host, body: "hello" });
    assert.deepEqual([answer.status, answer.headers["x-path"], answer.body.toString()], [200, "/a?b=c", "hello"]);
  }
  assert.equal((await ask(edge, "/", { method: "HEAD" })).headers["x-method"], "HEAD");
  const other = await ask(edge, "/", { host: "other.example.com" });
  assert.deepEqual([other.status, other.body.includes("1033")], [530, true], "connected, and another account's");
  await eventually(() => [TUNNEL, OTHERS].every((id) => edge.tunnels.links.some((link) => link.tunnel_id === id)));
  assert.deepEqual(edge.errors, []);
});

test("a service behind a tunnel learns which edges a request has passed, so that a tunnel to the edge itself is refused as a loop", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf((asked, answer) => answer.end(asked.headers["cdn-loop"]))];
  await edge.connect(toService(service)).serving;
  assert.equal((await ask(edge, "/")).body.toString(), "svc");
  assert.equal((await ask(edge, "/", { headers: { "cdn-loop": "other; v=1" } })).body.toString(), "other; v=1, svc");
  const circle = await edgeOf();
  await circle.connect(toService({ port: circle.http })).serving;
  assert.equal((await ask(circle, "/")).status, 508);
});

test("bodies of 100 MB pass both ways unchanged, and do not wait in memory", async () => {
  const edge = await edgeOf();
  const service = await serviceOf(async (asked, answer) => {
    const hash = createHash("sha256");
    for await (const part of asked) hash.update(part as Buffer);
    answer.writeHead(200, { "x-digest": hash.digest("hex") });
    Readable.from(pieces()).pipe(answer);
  });
  await edge.connect(toService(service)).serving;
  const piece = randomBytes(1_000_000);
  function* pieces() {
    for (let i = 0; i < 100; i++) yield piece;
  }
  const whole = createHash("sha256");
  for (const part of pieces()) whole.update(part);
  const digest = whole.digest("hex");
  const answer = await ask(edge, "/", { body: Readable.from(pieces()) });
  assert.deepEqual([answer.status, answer.headers["x-digest"], answer.body.length], [200, digest, 100_000_000]);
  assert.equal(createHash("sha256").update(answer.body).digest("hex"), digest);
});

test("parts of a response arrive while it goes on, and parts of a request before its end", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  await edge.connect(toService(service)).serving;
  const asked = request({ host: "127.0.0.1", port: edge.http, method: "POST", headers: { host: "www.example.com" }, agent: false });
  asked.flushHeaders();
  asked.write("one");
  const answer = await new Promise<IncomingMessage>((resolve) => asked.on("response", resolve));
  const next = (): Promise<string> => new Promise((resolve) => answer.once("data", (part: Buffer) => resolve(part.toString())));
  assert.equal(await next(), "one");
  const second = next();
  asked.write("two");
  assert.equal(await second, "two");
  asked.end();
  await new Promise((resolve) => answer.on("end", resolve));
});

test("200 requests at once are answered over two connections", async () => {
  const edge = await edgeOf();
  let most = 0;
  let open = 0;
  const service = await serviceOf((asked, answer) => {
    most = Math.max(most, ++open);
    setTimeout(() => {
      open--;
      answer.end(asked.url);
    }, 50);
  });
  await edge.connect(toService(service)).serving;
  await eventually(() => edge.tunnels.links.length === 2);
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(edge, `/${i}`, { agent })));
  assert.deepEqual(
    answers.map(({ body }) => body.toString()),
    Array.from({ length: 200 }, (_, i) => `/${i}`),
  );
  assert.ok(most > 20, `${most} at once`);
});

test("a WebSocket passes, and a tcp service is reached inside one", async () => {
  const edge = await edgeOf();
  const service = await serviceOf(echo);
  service.server.on("upgrade", (asked, socket) => {
    const accept = acceptOf(String(asked.headers["sec-websocket-key"]));
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  const tcp = createServer((socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => tcp.close(() => resolve())));
  const { port } = tcp.address() as AddressInfo;
  const rules = [{ path: "^/tcp$", service: `tcp://127.0.0.1:${port}` }, { service: `http://127.0.0.1:${service.port}` }];
  await edge.connect({ ingress: rules }).serving;
  const socketTo = async (path: string): Promise<ReturnType<typeof connect>> => {
    const socket = connect(edge.http, "127.0.0.1");
    closing.push(async () => void socket.destroy());
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`,
    );
    const head = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
    assert.match(head.toString(), /^HTTP\/1\.1 101 /);
    assert.ok(head.toString().includes(acceptOf(KEY)));
    return socket;
  };
  const plain = await socketTo("/");
  plain.write("raw");
  assert.equal((await new Promise<Buffer>((resolve) => plain.once("data", resolve))).toString(), "raw");
  const bridged = await socketTo("/tcp");
  bridged.write(Buffer.from([0x82, 0x83, 1, 2, 3, 4, "a".charCodeAt(0) ^ 1, "b".charCodeAt(0) ^ 2, "c".charCodeAt(0) ^ 3]));
  assert.deepEqual(await new Promise<Buffer>((resolve) => bridged.once("data", resolve)), Buffer.from("\x82\x03abc", "latin1"));
  assert.equal((await ask(edge, "/tcp")).status, 400);
});
const KEY = Buffer.alloc(16, 5).toString("base64");

test("rules of the API are pushed without a restart, with status and host header, and an invalid set changes nothing", async () => {
  const edge = await edgeOf();
  const service = await serviceOf((asked, answer) => answer.end(`${asked.headers.host} ${String(asked.headers["x-forwarded-for"])}`));
  await edge.connect(null).serving;
  assert.equal((await ask(edge, "/")).status, 503, "no rules yet");
  const rules = (status: number) => [
    { path: "^/own", service: `http://127.0.0.1:${service.port}`, originRequest: { httpHostHeader: "inside.example" } },
    { hostname: "www.example.com", path: "^/www", service: `http://127.0.0.1:${service.port}` },
    { service: `http_status:${status}` },
  ];
  edge.change({ config_src: "cloudflare", config: { version: 1, rules: { ingress: rules(404) } } });
  await eventually(() => edge.tunnels.links.some((link) => link.config_version === 1));
  assert.equal((await ask(edge, "/own")).body.toString(), "inside.example 127.0.0.1");
  assert.equal((await ask(edge, "/www")).body.toString(), "www.example.com 127.0.0.1");
  assert.equal((await ask(edge, "/else")).status, 404);
  edge.change({ config: { version: 2, rules: { ingress: rules(418) } } });
  await eventually(async () => (await ask(edge, "/else")).status === 418);
});

test("a tunnel without rules answers 503 with a page that says so, and the connector's log says it once", async () => {
  const edge = await edgeOf();
  const logged: string[] = [];
  const log = { ...SILENT, warn: (text: string) => void logged.push(text) } as typeof SILENT;
  await edge.connect(null, { log }).serving;
  const [html, json] = [await ask(edge, "/"), await ask(edge, "/", { headers: { accept: "application/json" } })];
  assert.deepEqual([html.status, html.headers["content-type"]], [503, "text/html; charset=utf-8"]);
  assert.match(html.body.toString(), /<h1>Tunnel has no rules<\/h1>/);
  assert.deepEqual([json.status, json.headers["content-type"]], [503, "application/json"]);
  const { errors, error_name, ray_id } = JSON.parse(json.body.toString());
  assert.deepEqual([errors[0].code, error_name], [503, "tunnel_unset"]);
  assert.match(ray_id, /^[0-9a-f]{16}$/);
  assert.equal((await ask(edge, "/", { method: "HEAD" })).status, 503);
  assert.deepEqual(logged, ["no ingress rule is configured, so requests get 503: write rules with PUT …/configurations, or use --url"]);
});

test("a file of authorities that cannot be read gives 502 and is named in the connector's log once", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  const folder = mkdtempSync(join(tmpdir(), "selvedge-authorities-"));
  closing.push(async () => rmSync(folder, { recursive: true }));
  const [absent, empty] = [join(folder, "absent.pem"), join(folder, "empty.pem")];
  writeFileSync(empty, "nothing\n");
  const logged: object[] = [];
  const log = { ...SILENT, error: (facts: object) => void logged.push(facts) } as typeof SILENT;
  const to = (path: string, caPool: string) => ({ path, service: "https://127.0.0.1:1", originRequest: { caPool } });
  const rules = [to("^/absent", absent), to("^/empty", empty), { service: `http://127.0.0.1:${service.port}` }];
  await edge.connect({ ingress: rules }, { log }).serving;
  for (const path of ["/absent", "/absent", "/empty"]) {
    const { status, body } = await ask(edge, path);
    assert.deepEqual([status, body.toString()], [502, "The connector cannot read the authorities of this service."]);
  }
  assert.equal((await ask(edge, "/", { body: "x" })).body.toString(), "x");
  assert.deepEqual(
    logged.map((facts) => (facts as { readonly file: string }).file),
    [absent, empty],
  );
  writeFileSync(absent, edge.rootPem);
  assert.match((await ask(edge, "/absent")).body.toString(), /cannot get an answer of the service/, "the file is read once it is there");
});

test("a connector that confirms rules which the edge has not sent is refused with the reason", async () => {
  const edge = await edgeOf();
  edge.change({ config_src: "cloudflare", config: { version: 3, rules: { ingress: [{ service: "http_status:404" }] } } });
  const { account, tunnel, secret, host, port, authority } = edge.token();
  const connector = { id: TUNNEL, version: "1", arch: "x", features: [], run_at: "2026-11-27T09:00:00Z" };
  const confirm = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const connection: EdgeConnection = new EdgeConnection(
        {
          onStream: () => undefined,
          onWelcome: () => undefined,
          onConfig: () => {
            connection.session.send(FRAME.applied, 0, text);
            if (text === "3") setTimeout(() => resolve("taken"), 300);
            return false;
          },
          onChanged: () => undefined,
          onClosed: (_, __, refusal) => resolve(refusal),
        },
        {
          ...{ address: "127.0.0.1", port, serverName: host, authorities: [new X509Certificate(authority!).toString()] },
          hello: JSON.stringify({ a: account, t: tunnel, s: secret, connector }),
        },
      );
      closing.push(async () => connection.session.destroy(""));
    });
  for (const text of ["4", "-1", "1.5", "1e0", "", "three", "9".repeat(400), "Infinity"])
    assert.equal(await confirm(text), "the connector applied rules that the edge has not sent", text);
  assert.equal(await confirm("3"), "taken");
  await eventually(() => edge.tunnels.links.some((link) => link.config_version === 3));
});

test("a connector that ends finishes its requests, and others take the next ones", async () => {
  const edge = await edgeOf();
  let release = (): void => undefined;
  let isAsked = false;
  const slow = await serviceOf((_, answer) => {
    answer.write("a");
    release = () => answer.end("b");
    isAsked = true;
  });
  const quick = await serviceOf((_, answer) => answer.end("quick"));
  const first = edge.connect(toService(slow), { connections: 1 });
  await first.serving;
  const waiting = ask(edge, "/");
  await eventually(() => isAsked);
  await edge.connect(toService(quick), { connections: 1 }).serving;
  const stopped = first.stop(10_000);
  await eventually(async () => (await ask(edge, "/")).body.toString() === "quick");
  release();
  assert.equal((await waiting).body.toString(), "ab");
  await stopped;
  for (let i = 0; i < 5; i++) assert.equal((await ask(edge, "/")).body.toString(), "quick");
});

test("a request of which nothing came back is sent once more when its connector dies, unless it has content", async () => {
  const edge = await edgeOf();
  let waiting = 0;
  const silent = await serviceOf((asked) => {
    waiting++;
    asked.resume();
  });
  const [dying, service] = [edge.connect(toService(silent), { connections: 1 }), await serviceOf(echo)];
  await dying.serving;
  const answers = [ask(edge, "/a"), ask(edge, "/b", { body: "content" })];
  await eventually(() => waiting === 2);
  await edge.connect(toService(service), { connections: 1 }).serving;
  await dying.stop(0);
  const [read, written] = await Promise.all(answers);
  assert.deepEqual([read?.status, read?.headers["x-path"], written?.status], [200, "/a", 520]);
});

test("a connection that is lost costs only what it had begun, and is dialled again", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  await edge.connect(toService(service)).serving;
  await eventually(() => edge.tunnels.links.length === 2);
  const ids = new Set(edge.tunnels.links.map(({ id }) => id));
  edge.change({ ended: [{ at: "2999-01-01T00:00:00.000000Z" }] });
  edge.change({ ended: [] });
  await eventually(() => edge.tunnels.links.filter(({ id }) => !ids.has(id)).length === 2);
  assert.equal((await ask(edge, "/", { body: "again" })).body.toString(), "again");
});

test("a wrong secret, another account's tunnel and a deleted tunnel are refused with the same answer", async () => {
  const edge = await edgeOf();
  const refusal = async (token: ReturnType<TunnelledEdge["token"]>): Promise<string> => edge.connect({}, { token, connections: 1 }).refused;
  const absent = "5c1c1e0e-0000-4000-8000-00000000000f";
  const wrong = Buffer.alloc(32, 9).toString("base64");
  const all = await Promise.all([
    refusal(edge.token(wrong)),
    refusal({ ...edge.token(), account: "other account" }),
    refusal({ ...edge.token(), tunnel: OTHERS }),
    refusal({ ...edge.token(), tunnel: absent }),
  ]);
  assert.deepEqual(new Set(all), new Set(["the token is not valid"]));
  const connector = edge.connect({}, { connections: 1 });
  await connector.serving;
  edge.change({ secret: "sealed with another key" });
  edge.change(null);
  assert.match(await connector.refused, /deleted|not valid/);
  assert.equal((await ask(edge, "/")).status, 530);
});

test("a connector that was refused for good serves once the edge has heard of its secret", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  const secret = Buffer.alloc(32, 4).toString("base64");
  const connector = edge.connect(toService(service), { token: edge.token(secret), connections: 1 });
  assert.equal(await connector.refused, "the token is not valid");
  assert.equal(connector.isRefused(), true);
  edge.change({ secret: edge.sealer.seal(secret, `tunnel:${TUNNEL}`) });
  await connector.serving;
  assert.equal(connector.isRefused(), false);
  assert.equal((await ask(edge, "/", { body: "late" })).body.toString(), "late");
});

test("a new secret ends the connections that have the old one", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  const connector = edge.connect(toService(service), { connections: 1 });
  await connector.serving;
  const secret = Buffer.alloc(32, 3).toString("base64");
  edge.change({ secret: edge.sealer.seal(secret, `tunnel:${TUNNEL}`) });
  assert.equal(await connector.refused, "the token is not valid");
  await edge.connect(toService(service), { token: edge.token(secret) }).serving;
  assert.equal((await ask(edge, "/", { body: "x" })).body.toString(), "x");
});

test("without a service behind a rule, the visitor gets 502, and the connector goes on", async () => {
  const [edge, service] = [await edgeOf(), await serviceOf(echo)];
  const rules = [{ path: "^/gone", service: "http://127.0.0.1:1" }, { service: `http://127.0.0.1:${service.port}` }];
  await edge.connect({ ingress: rules }).serving;
  assert.equal((await ask(edge, "/gone")).status, 502);
  assert.equal((await ask(edge, "/gone", { body: "x".repeat(100_000) })).status, 502);
  assert.equal((await ask(edge, "/", { body: "x" })).body.toString(), "x");
});
