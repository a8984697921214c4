import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { parseIp } from "#kernel/net/ip.ts";
import { type Clock, fixedClock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createCertificates, SERVICE_CERTIFICATE_ID } from "#snapshot/certificates.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { selfSigned } from "#wire/connections/testing/secure.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { listenBatchedUdp } from "./batched-udp.ts";
import { NAMESERVER_LIMITS } from "#nameserver/config.ts";
import { createListeners } from "./listeners.ts";
import type { Respond } from "#nameserver/responder/respond.ts";
import { listenDoh } from "./doh.ts";
import { loadSystemSockets, type SystemSockets } from "./system-sockets.ts";
import { type Carrier, listenTcp } from "./tcp.ts";
import { listenUdp } from "./udp.ts";
import { eventually, PATIENCE_MS } from "../../../test/support/eventually.ts";
import { skipWithoutIpv6 } from "../../../test/support/ipv6.ts";
import { nameserverConfig, SEALER } from "../../../test/support/nameserver.ts";

const LATE = 0x80;

/**
 * Answers with the message's header and who sent it: transport, port, address. Messages marked LATE are answered by a
 * promise, in whose time the memory of the message has long been used for others.
 */
const echo: Respond = (packet, { transport, port, address }) => {
  const response = Buffer.concat([packet.subarray(0, HEADER_BYTES), Buffer.of(port >> 8, port), address, Buffer.from(transport)]);
  const late = ((packet[2] as number) & LATE) !== 0;
  return late ? new Promise((resolve) => setTimeout(resolve, 20, response)) : response;
};

const message = (id: number, late: boolean): Buffer => {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt16BE(id, 0);
  if (late) bytes[2] = LATE;
  return bytes;
};

const sockets = await loadSystemSockets();

type Listen = (host: string) => Promise<{ port: number; close(timeoutMs: number): Promise<void> }>;
const batchedUdp = (known: SystemSockets, host: string, clock: Clock) =>
  listenBatchedUdp({
    sockets: known,
    address: parseIp(host) ?? assert.fail(),
    config: { host, port: 0, reusePort: false },
    quickAnswer: () => 0,
    respond: echo,
    clock,
    metrics: createMetrics(),
  });
const UDP_PATHS: readonly (readonly [name: string, listen: Listen])[] = [
  [
    "one datagram a call",
    (host) => listenUdp({ host, port: 0, reusePort: false }, { quickAnswer: () => 0, respond: echo, clock: systemClock }, createMetrics()),
  ],
  ...(sockets ? [["batched", (host: string) => batchedUdp(sockets, host, systemClock)] as const] : []),
];

test("datagrams are sent in batches on Linux on x64 and arm64", () => {
  const isKnown = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
  assert.equal(sockets !== undefined, isKnown);
});

for (const [name, listen] of UDP_PATHS) {
  test(`${name}: each answer goes to the sender of its datagram, whose address the responder gets, at once or late`, async (t) => {
    for (const [host, target, address] of [
      ["127.0.0.1", "127.0.0.1", [127, 0, 0, 1]],
      ["::1", "::1", [...Array.from({ length: 15 }, () => 0), 1]],
      ["::", "127.0.0.1", [127, 0, 0, 1]],
    ] as const) {
      if (host.includes(":") && skipWithoutIpv6 !== false) continue;
      const server = await listen(host);
      t.after(() => server.close(0));
      const socket = createSocket(target.includes(":") ? "udp6" : "udp4");
      t.after(() => socket.close());
      socket.bind(0, target);
      await once(socket, "listening");
      const seen = new Map<number, Buffer>();
      const done = Promise.withResolvers<void>();
      socket.on("message", (response) => {
        seen.set(response.readUInt16BE(0), response);
        if (seen.size === 40) done.resolve();
      });
      for (let id = 0; id < 40; id++) socket.send(message(id, id % 3 === 0), server.port, target);
      const limit = setTimeout(() => done.reject(new Error(`${seen.size} of 40 answers`)), PATIENCE_MS);
      await done.promise.finally(() => clearTimeout(limit));
      const { port } = socket.address();
      for (const [id, response] of seen) {
        assert.deepEqual([...response.subarray(HEADER_BYTES)], [port >> 8, port & 0xff, ...address, ...Buffer.from("udp")], `${id}`);
      }
    }
  });

  test(`${name}: an answer after the socket was closed causes no error`, async () => {
    const server = await listen("127.0.0.1");
    const socket = createSocket("udp4");
    for (let id = 0; id < 10; id++) socket.send(message(id, true), server.port, "127.0.0.1");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close(0);
    await new Promise((resolve) => setTimeout(resolve, 40));
    socket.close();
  });
}

test("a flood does not stop the thread, even if its clock stands still", { skip: sockets === undefined }, async (t) => {
  const server = await batchedUdp(sockets as SystemSockets, "127.0.0.1", fixedClock(0));
  t.after(() => server.close(0));
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  let answers = 0;
  socket.on("message", () => answers++);
  for (let asked = 100; asked <= 400; asked += 100) {
    for (let id = asked - 100; id < asked; id++) socket.send(message(id, false), server.port, "127.0.0.1");
    await eventually(() => answers === asked);
  }
});

const RESPONDERS = { respond: echo, openStream: () => undefined };

async function tcp(t: TestContext, limits = NAMESERVER_LIMITS) {
  const server = await listenTcp({ host: "127.0.0.1", port: 0, reusePort: false }, limits, RESPONDERS, createMetrics());
  t.after(() => server.close(100));
  const socket = connect(server.port, "127.0.0.1");
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return { server, socket, identifiers: () => identifiersOf(socket) };
}

/** Of the messages that come until the end. */
async function identifiersOf(socket: Socket): Promise<number[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt16BE(at)) found.push(bytes.readUInt16BE(at + 2));
  return found;
}

const framed = (id: number, late: boolean): Buffer => Buffer.concat([Buffer.of(0, HEADER_BYTES), message(id, late)]);

test("TCP: a late answer does not delay later ones, and arrives even if the client has half closed", async (t) => {
  const { socket, identifiers } = await tcp(t);
  socket.end(Buffer.concat([framed(1, true), framed(2, false), framed(3, true), framed(4, false)]));
  assert.deepEqual(await identifiers(), [2, 4, 1, 3]);
});

test("TCP: a closing server sends the answers in progress first", async (t) => {
  const { server, socket, identifiers } = await tcp(t);
  socket.write(Buffer.concat([framed(1, true), framed(2, false)]));
  await once(socket, "readable");
  const [seen] = await Promise.all([identifiers(), server.close(2000)]);
  assert.deepEqual(seen, [2, 1]);
});

test("TCP: the server stops reading a connection while too many of its answers are pending", async (t) => {
  const { socket, identifiers } = await tcp(t, { ...NAMESERVER_LIMITS, tcpPendingMax: 2 });
  socket.end(Buffer.concat([framed(1, true), framed(2, true), framed(3, false), framed(4, true)]));
  // The third, which needs no waiting, waits for the first two to be out of the way.
  assert.deepEqual(await identifiers(), [1, 3, 2, 4]);
});

test("TCP: thousands of messages in one read are answered in turns, between which datagrams are read", async (t) => {
  let tick = 0;
  let isOver = false;
  t.after(() => (isOver = true));
  const next = (): void => {
    tick += 1;
    if (!isOver) setImmediate(next);
  };
  next();
  const perTick = new Map<number, number>();
  const respond: Respond = (packet, client) => {
    perTick.set(tick, (perTick.get(tick) ?? 0) + 1);
    return echo(packet, client);
  };
  const limits = { ...NAMESERVER_LIMITS, tcpMessagesPerTick: 10 };
  const config = { host: "127.0.0.1", port: 0, reusePort: false };
  const server = await listenTcp(config, limits, { respond, openStream: () => undefined }, createMetrics());
  t.after(() => server.close(100));
  const clients = Array.from({ length: 3 }, () => connect(server.port, "127.0.0.1"));
  t.after(() => clients.forEach((client) => client.destroy()));
  const ids = Array.from({ length: 2000 }, (_, id) => id);
  const answers = clients.map((client) => {
    client.end(Buffer.concat(ids.map((id) => framed(id, false))));
    return identifiersOf(client);
  });
  for (const found of await Promise.all(answers)) assert.equal(found.join(), ids.join());
  // An immediate of this test can run between two of the listener's.
  assert.ok(Math.max(...perTick.values()) <= 20, String(Math.max(...perTick.values())));
});

test("HTTPS: queries that arrived together are answered in turns too", async (t) => {
  const [connections, each] = [20, 25];
  const count = connections * each;
  let tick = 0;
  let answered = 0;
  let isOver = false;
  t.after(() => (isOver = true));
  const perTick = new Map<number, number>();
  const next = (): void => {
    tick += 1;
    if (!isOver) setImmediate(next);
  };
  next();
  const respond: Respond = (packet, client) => {
    answered += 1;
    perTick.set(tick, (perTick.get(tick) ?? 0) + 1);
    return echo(packet, client);
  };
  const server = await listenDoh({ port: 0, reusePort: false }, { tcpMessagesPerTick: 10 }, respond);
  t.after(() => server.close(100));
  const clients = Array.from({ length: connections }, () => connect(server.port, "127.0.0.1"));
  t.after(() => clients.forEach((client) => client.destroy()));
  await Promise.all(clients.map((client) => once(client, "connect")));
  const query = message(1, false).toString("base64url");
  const answers = clients.map(async (client) => {
    client.write(`GET /dns-query?dns=${query} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(each));
    let text = "";
    for await (const chunk of client.setEncoding("latin1")) {
      text += String(chunk);
      if (text.split("HTTP/1.1 200 ").length > each) break;
    }
  });
  await Promise.all(answers);
  assert.equal(answered, count);
  assert.ok(Math.max(...perTick.values()) <= 20, String(Math.max(...perTick.values())));
});

test("TLS: connections that never complete a handshake count against the limits", async (t) => {
  const limits = { ...NAMESERVER_LIMITS, tcpConnectionsPerAddressMax: 2 };
  const metrics = createMetrics();
  const carrier: Carrier = {
    transport: "dot",
    createServer: (options, onConnection) => createTlsServer({ ...options, handshakeTimeout: 300 }, onConnection),
  };
  const server = await listenTcp({ host: "127.0.0.1", port: 0, reusePort: false }, limits, RESPONDERS, metrics, carrier);
  t.after(() => server.close(100));
  const open = async (): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return socket.on("error", () => {});
  };
  const refused = (): number => metrics.samples().find(({ name }) => name === "selvedge_dns_tcp_refused_total")?.value ?? 0;
  const [first, second] = [await open(), await open()];
  const firstClosed = once(first.resume(), "close");
  const third = await open();
  await firstClosed;
  assert.equal(second.destroyed, false);
  // Their time for it is bounded, and then their places are free again.
  await Promise.all([second, third].map((socket) => once(socket.resume(), "close")));
  assert.equal(refused(), 0);
});

test("TCP: idle connections of an address make room for a new one, the longest idle first, and none that waits for an answer does", async (t) => {
  const { server, socket: waiting, identifiers } = await tcp(t, { ...NAMESERVER_LIMITS, tcpConnectionsPerAddressMax: 3 });
  const open = async (): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const ask = async (socket: Socket, id: number): Promise<void> => {
    socket.write(framed(id, false));
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.equal(answer.readUInt16BE(2), id);
  };
  const seen = identifiers();
  waiting.write(framed(1, true));
  const [second, third] = [await open(), await open()];
  await ask(third, 3);
  await ask(second, 2);
  const closed = once(third, "close");
  const fourth = await open();
  await ask(fourth, 4);
  await closed;
  await ask(second, 5);
  waiting.end();
  assert.deepEqual(await seen, [1]);
});

test("TLS: the server releases a client that disconnects during a handshake at once, and a half-closed client gets its answers in progress", async () => {
  const hourMs = 3_600_000;
  const { chain, privateKey } = await selfSigned();
  const carrier: Carrier = {
    transport: "dot",
    createServer: (options, onConnection) =>
      createTlsServer({ ...options, cert: chain, key: privateKey, handshakeTimeout: hourMs }, onConnection),
  };
  const server = await listenTcp({ host: "127.0.0.1", port: 0, reusePort: false }, NAMESERVER_LIMITS, RESPONDERS, createMetrics(), carrier);
  const dial = (): TLSSocket => connectTls({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false });
  const leaving = dial();
  await once(leaving, "secureConnect");
  // The end of the handshake has not reached the other side yet.
  leaving.destroy();
  const asking = dial();
  asking.end(Buffer.concat([framed(1, true), framed(2, false)]));
  assert.deepEqual(await identifiersOf(asking), [2, 1]);
  const silent = connect(server.port, "127.0.0.1");
  await once(silent, "connect");
  silent.resume().end();
  await server.close(hourMs);
});

test("DNS over TLS: adding and removing a zone's certificate does not reopen the server's own", async (t) => {
  const { chain, privateKey } = await selfSigned();
  const certificate = (id: string): Op => ({
    kind: "certificate",
    id,
    value: {
      zone_id: id === SERVICE_CERTIFICATE_ID ? "" : "z",
      hosts: [`${id}.example`],
      chain,
      private_key: SEALER.seal(privateKey, `certificate:${id}`),
      not_after: "2099-01-01T00:00:00Z",
    },
  });
  const replica = createMemoryReplica([certificate(SERVICE_CERTIFICATE_ID)]);
  const opened: string[] = [];
  const open: typeof SEALER.open = (sealed, context) => {
    opened.push(context);
    return SEALER.open(sealed, context);
  };
  const metrics = createMetrics();
  const certificates = createCertificates({
    replica,
    sealer: { ...SEALER, open },
    contextsMax: 10,
    zoneIdOf: () => null,
    keysNotOpened: metrics.counter("keys_not_opened_total", "Keys"),
  });
  const config = nameserverConfig({ dot: { port: 0 } });
  const listeners = createListeners({
    config,
    metrics,
    responders: RESPONDERS,
    quickAnswer: () => 0,
    clock: systemClock,
    certificates,
    sockets: undefined,
    log: () => undefined,
  });
  await listeners.open();
  t.after(() => listeners.close(0));
  const own = `certificate:${SERVICE_CERTIFICATE_ID}`;
  assert.deepEqual(opened, [own]);
  for (let i = 0; i < 10; i++) replica.apply([certificate(`n${i}`)]);
  assert.deepEqual(opened, [own]);
  replica.apply([certificate("n0"), certificate(SERVICE_CERTIFICATE_ID)]);
  assert.deepEqual(opened, [own, own]);
});
