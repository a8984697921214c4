import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { after, before, test } from "node:test";
import { Agent, type CloseEvent, type MessageEvent, WebSocket } from "undici";
import { exchangeRaw, rawClient, rawOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";
import { acceptOf, BINARY, CLOSE, PING, PONG, startWebSocketServer, TEXT, type WebSocketServer } from "../support/websocket-server.ts";

let server: WebSocketServer;
let edge: SecureEdge;
let agent: Agent;
let agentOfHttp2: Agent;

before(async () => {
  server = await startWebSocketServer((peer, { opcode, payload }) => {
    if (opcode === TEXT || opcode === BINARY) peer.send(opcode, payload);
    if (opcode === CLOSE) {
      peer.send(CLOSE, payload);
      peer.socket.end();
    }
  });
  edge = await startSecureEdge(server.port);
  const connect: Agent.Options["connect"] = {
    ca: edge.rootPem,
    lookup: (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
  };
  agent = new Agent({ connect, allowH2: false });
  agentOfHttp2 = new Agent({ connect, allowH2: true });
});
after(async () => {
  await agent.destroy();
  await agentOfHttp2.destroy();
  await edge.close();
  server.close();
});

type Way = "ws" | "wss" | "wss over HTTP/2";

async function open(way: Way): Promise<{ readonly client: WebSocket; next(): Promise<MessageEvent["data"]> }> {
  const scheme = way === "ws" ? "ws" : "wss";
  const dispatcher = way === "wss over HTTP/2" ? agentOfHttp2 : agent;
  const port = scheme === "ws" ? edge.http : edge.https;
  const client = new WebSocket(`${scheme}://www.example.com:${port}/socket?a=b`, { dispatcher });
  client.binaryType = "arraybuffer";
  const waiting: ((data: unknown) => void)[] = [];
  const arrived: unknown[] = [];
  client.addEventListener("message", ({ data }) => {
    const taker = waiting.shift();
    if (taker === undefined) arrived.push(data);
    else taker(data);
  });
  await once(client as unknown as EventTarget, "open");
  return {
    client,
    next: () => (arrived.length > 0 ? Promise.resolve(arrived.shift()) : new Promise((resolve) => waiting.push(resolve))),
  };
}

const closed = (client: WebSocket): Promise<CloseEvent> => new Promise((resolve) => client.addEventListener("close", resolve));

for (const way of ["ws", "wss", "wss over HTTP/2"] as const) {
  test(`${way}: text, binary and large messages pass in both directions, and the server may send first`, async () => {
    const { client, next } = await open(way);
    const peer = server.connections.at(-1)!;
    assert.match(peer.head, /^GET \/socket\?a=b HTTP\/1\.1\r\n/);
    assert.match(peer.head, new RegExp(`\\r\\nX-Forwarded-Proto: ${way === "ws" ? "http" : "https"}\\r\\n`));
    // Over HTTP/2 the key is the edge's own, after all that came from the client.
    assert.equal(/\r\nsec-websocket-key: \S+\r\nConnection: Upgrade\r\n/.test(peer.head), way === "wss over HTTP/2");
    client.send("hello");
    assert.equal(await next(), "hello");
    for (const size of [125, 126, 65_535, 65_536, 5_000_000]) {
      const data = Buffer.alloc(size, "0123456789");
      client.send(data);
      assert.ok(Buffer.from((await next()) as ArrayBuffer).equals(data), `${size} bytes`);
    }
    peer.send(TEXT, Buffer.from("unasked"));
    assert.equal(await next(), "unasked");
    peer.send(PING, Buffer.from("are you there?"));
    await eventually(() => peer.frames.some(({ opcode, payload }) => opcode === PONG && payload.toString() === "are you there?"));
    const end = closed(client);
    client.close(4001, "enough");
    assert.equal((await end).code, 4001);
    const last = peer.frames.at(-1)!;
    assert.deepEqual([last.opcode, last.payload.readUInt16BE(0), last.payload.toString("utf8", 2)], [CLOSE, 4001, "enough"]);
  });
}

test("the client gets the server's close code, and an end if the server only disconnects", async () => {
  const first = await open("ws");
  const code = Buffer.concat([Buffer.of(4002 >> 8, 4002 & 0xff), Buffer.from("later")]);
  const end = closed(first.client);
  const peer = server.connections.at(-1)!;
  peer.send(CLOSE, code);
  peer.socket.end();
  const { code: number, reason, wasClean } = await end;
  assert.deepEqual([number, reason, wasClean], [4002, "later", true]);
  const second = await open("wss");
  const gone = closed(second.client);
  server.connections.at(-1)!.socket.destroy();
  assert.equal((await gone).code, 1006);
});

test("each WebSocket writes one row with its status and bytes", async () => {
  const { client, next } = await open("wss");
  client.send("x".repeat(10_000));
  await next();
  const rows = () => edge.requests.filter((row) => row.bytes_in > 10_000 && row.bytes_in < 20_000);
  assert.equal(rows().length, 0, "it is not over yet");
  client.close();
  await eventually(() => rows().length === 1);
  const [row] = rows();
  assert.deepEqual([row!.status, row!.origin_status, row!.path], [101, 101, "/socket"]);
  assert.ok(row!.bytes_out > 10_000, `${row!.bytes_out} out`);
});

const SWITCH = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf("k")}\r\n\r\n`;
const UPGRADE = "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n";

test("backpressure stops a server that floods a client which does not read, and the reverse", async () => {
  const flood = Buffer.alloc(65_536, "x");
  let peers = 0;
  let [sentByOrigin, receivedByOrigin] = [0, 0];
  const origin = await rawOrigin((socket) => {
    socket.once("data", () => {
      socket.write(SWITCH);
      if (++peers === 2) {
        socket.on("data", (piece) => (receivedByOrigin += piece.length));
        return void socket.pause();
      }
      const more = (): void => {
        while (sentByOrigin < 256_000_000) {
          sentByOrigin += flood.length;
          if (!socket.write(flood)) return void socket.once("drain", more);
        }
      };
      more();
    });
  });
  const site = await startEdge(siteOps(origin.port));
  const reader = rawClient(site.http);
  reader.socket.pause();
  reader.send(UPGRADE);
  const writer = rawClient(site.http);
  await eventually(() => peers === 1);
  writer.send(UPGRADE);
  await writer.until(/101 Switching/);
  let held = false;
  let sentByClient = 0;
  while (sentByClient < 256_000_000 && !held) {
    sentByClient += flood.length;
    if (writer.socket.write(flood)) continue;
    held = !(await Promise.race([
      once(writer.socket, "drain").then(() => true),
      new Promise<boolean>((done) => setTimeout(done, 1000, false)),
    ]));
  }
  assert.ok(held && sentByClient < 64_000_000, `the client was read ahead: ${sentByClient}`);
  assert.ok(sentByOrigin < 64_000_000, `the server was read ahead: ${sentByOrigin}`);
  assert.equal(receivedByOrigin, 0);
  await site.close();
  origin.close();
});

test("either side may end first, and data in flight still arrives", async () => {
  const origin = await rawOrigin((socket) => {
    let text = "";
    socket.on("data", (bytes) => {
      if (text === "") socket.write(SWITCH);
      text += bytes.toString("latin1");
    });
    socket.on("end", () => {
      socket.write(`got ${text.length - text.indexOf("\r\n\r\n") - 4};`);
      setTimeout(() => socket.end("last"), 100);
    });
  });
  const site = await startEdge(siteOps(origin.port));
  const client = rawClient(site.http);
  client.send(UPGRADE);
  await client.until(/101 Switching/);
  client.send("y".repeat(300_000));
  client.socket.end();
  assert.match(await client.closed(), /got 300000;last$/);
  await eventually(() => site.requests.length === 1);
  await site.close();
  origin.close();
});

test("WebSocket tunnels do not count as connections of the origin's request pool", async () => {
  const origin = await rawOrigin((socket) => {
    let switched = false;
    socket.on("end", () => socket.end());
    socket.on("data", (bytes) => {
      if (switched) return void socket.write(bytes);
      switched = /upgrade: websocket/i.test(bytes.toString("latin1"));
      if (switched) socket.write(SWITCH);
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine");
    });
  });
  const site = await startEdge(siteOps(origin.port), {}, { originConnectionsMax: 1, originQueueMax: 1 });
  const plain = "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n";
  const tunnels = [];
  for (let i = 0; i < 5; i++) {
    const tunnel = rawClient(site.http);
    tunnel.send(UPGRADE);
    await tunnel.until(/101 Switching/);
    tunnels.push(tunnel);
    assert.match(await exchangeRaw(site.http, plain), /fine$/);
  }
  for (const tunnel of tunnels) tunnel.socket.destroy();
  await eventually(() => site.requests.length === 10);
  for (let i = 0; i < 3; i++) assert.match(await exchangeRaw(site.http, plain), /fine$/);
  const open = () => site.metrics.samples().find(({ name }) => name.includes("origin_connections"))?.value;
  await eventually(() => open() === 1);
  assert.deepEqual(site.errors, []);
  await site.close();
  origin.close();
});

test("an idle tunnel is closed at the timeout, and an active one is not", async () => {
  const origin = await rawOrigin((socket) => {
    socket.once("data", () => {
      socket.write(SWITCH);
      socket.pipe(socket);
    });
  });
  const site = await startEdge(siteOps(origin.port), {}, { tunnelIdleTimeoutMs: 1500 });
  const [silent, busy] = [rawClient(site.http), rawClient(site.http)];
  silent.send(UPGRADE);
  busy.send(UPGRADE);
  const beat = setInterval(() => busy.send("."), 300);
  await silent.closed();
  await new Promise((done) => setTimeout(done, 1500));
  assert.equal(busy.socket.destroyed, false);
  clearInterval(beat);
  busy.socket.destroy();
  await site.close();
  origin.close();
});

test("the edge also upgrades to other protocols, and forwards a refused upgrade as a response", async () => {
  const origin = await rawOrigin((socket) => {
    let switched = false;
    socket.on("data", (bytes) => {
      if (switched) return void socket.write(bytes);
      const wanted = /upgrade: (.*)\r\n/i.exec(bytes.toString("latin1"))?.[1] ?? "";
      if (wanted !== "echo/2") return void socket.write("HTTP/1.1 426 Upgrade Required\r\nUpgrade: echo/2\r\nContent-Length: 3\r\n\r\nno.");
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo/2\r\n\r\n");
      switched = true;
    });
  });
  const site = await startEdge(siteOps(origin.port));
  const client = rawClient(site.http);
  client.send(UPGRADE.replace("websocket", "echo/2"));
  await client.until(/\r\n\r\n$/);
  client.send("ping");
  assert.match(await client.until(/ping$/), /^HTTP\/1\.1 101 [^]*\r\nUpgrade: echo\/2\r\n/);
  client.socket.destroy();
  const refused = rawClient(site.http);
  refused.send(UPGRADE);
  await refused.until(/no\.$/);
  // The connection serves on: nothing was switched.
  refused.send("GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  assert.equal((await refused.closed()).match(/HTTP\/1\.1 426/g)?.length, 2);
  assert.match(
    await exchangeRaw(site.http, UPGRADE.replace("websocket", "h2c").replace("Upgrade\r", "Upgrade, close\r")),
    /^HTTP\/1\.1 426/,
  );
  await site.close();
  origin.close();
});

test("a TLS client that speaks HTTP/1.1, with or without ALPN, gets its tunnel", async () => {
  for (const ALPNProtocols of [["http/1.1"], undefined]) {
    const socket = connectTls({
      port: edge.https,
      host: "127.0.0.1",
      servername: "www.example.com",
      ca: edge.rootPem,
      ...(ALPNProtocols && { ALPNProtocols }),
    });
    socket.write(UPGRADE);
    const [bytes] = (await once(socket, "data")) as [Buffer];
    assert.match(bytes.toString("latin1"), /^HTTP\/1\.1 101 /);
    socket.destroy();
  }
  assert.deepEqual(edge.errors, []);
});
