import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { type MemoryReplica, createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../../test/support/nameserver.ts";
import { toolOrSkip } from "../../test/support/tools.ts";
import { recordOp, serialOp, zoneOp } from "../../test/support/zone-entries.ts";
import { NAMESERVER_LIMITS, type NameserverConfig } from "./config.ts";
import { createRateTable } from "#nameserver/limits/rate-limit.ts";
import { createNameserver } from "./nameserver.ts";
import { loadSystemSockets, type SystemSockets } from "#nameserver/listen/system-sockets.ts";
import { PATIENCE_MS, eventually } from "../../test/support/eventually.ts";
import { skipWithoutIpv6 } from "../../test/support/ipv6.ts";

const Z = "zone1";
const BASE: readonly Op[] = [
  zoneOp(Z, "example.com"),
  serialOp(Z, 7),
  recordOp(Z, "www.example.com", "A", "192.0.2.1", { proxied: true, ttl: 300 }),
  recordOp(Z, "plain.example.com", "A", "192.0.2.2"),
  recordOp(Z, "plain.example.com", "AAAA", "2001:db8::2"),
  recordOp(Z, "example.com", "MX", "10 plain.example.com"),
  recordOp(Z, "example.com", "CAA", '0 issue "ca.example"'),
  recordOp(Z, "_sip._tcp.example.com", "SRV", "1 2 5060 plain.example.com"),
  recordOp(Z, "h.example.com", "HTTPS", '1 . alpn="h3,h2"'),
  recordOp(Z, "alias.example.com", "CNAME", "plain.example.com"),
  recordOp(Z, "big.example.com", "TXT", `"${"x".repeat(255)}" `.repeat(12)),
];

/** How datagrams travel; what is answered must not depend on it. */
type Path = readonly [name: string, sockets: SystemSockets | undefined];

const batched = await loadSystemSockets();
const PATHS: readonly Path[] = [["one datagram a call", undefined], ...(batched ? [["batched", batched] as const] : [])];

/** A test of each path. */
function testPaths(name: string, run: (t: TestContext, path: Path) => Promise<void>): void {
  for (const path of PATHS) test(`${path[0]}: ${name}`, (t) => run(t, path));
}

interface Running {
  readonly port: number;
  readonly replica: MemoryReplica;
  count(name: string): number;
}

async function start(t: TestContext, [, sockets]: Path, change: Partial<NameserverConfig> = {}): Promise<Running> {
  const replica = createMemoryReplica(BASE);
  const metrics = createMetrics();
  const config = nameserverConfig({ edgeAddresses: ["203.0.113.7", "2001:db8::7"], ...change });
  const nameserver = createNameserver({ replica, metrics, config, ...NAMESERVER_PARTS, sockets });
  const ports = await nameserver.listen();
  assert.equal(ports.udp, ports.tcp);
  t.after(() => nameserver.close(100));
  const count = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((sum, sample) => sum + sample.value, 0);
  return { port: ports.udp, replica, count };
}

const query = (name: string, type: number, id = 1): Buffer =>
  encodeMessage({
    id,
    flags: FLAG.RD,
    questions: [{ name: parseAbsoluteName(name), type, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;

const framed = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);

async function askUdp(port: number, bytes: Buffer, host = "127.0.0.1"): Promise<Buffer> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  try {
    socket.send(bytes, port, host);
    const [response] = (await once(socket, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [Buffer];
    return response;
  } finally {
    socket.close();
  }
}

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Reads `count` framed messages. */
async function readMessages(socket: Socket, count: number): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  let buffer = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    buffer = Buffer.concat([buffer, chunk as Buffer]);
    while (buffer.length >= 2 && buffer.length >= 2 + buffer.readUInt16BE(0)) {
      messages.push(buffer.subarray(2, 2 + buffer.readUInt16BE(0)));
      buffer = buffer.subarray(2 + buffer.readUInt16BE(0));
    }
    if (messages.length >= count) break;
  }
  return messages;
}

const run = promisify(execFile);

testPaths("dig gets what the zone holds, over UDP and TCP", async (t, path) => {
  const reason = toolOrSkip("dig");
  if (reason) return t.skip(reason);
  const { port } = await start(t, path);
  const dig = async (...args: string[]): Promise<string> =>
    (await run("dig", ["@127.0.0.1", "-p", String(port), "+tries=1", "+timeout=30", ...args], { timeout: 60_000 })).stdout.trim();
  const rows: [args: string[], answer: string][] = [
    [["+short", "www.example.com", "A"], "203.0.113.7"],
    [["+short", "www.example.com", "AAAA"], "2001:db8::7"],
    [["+short", "plain.example.com", "A"], "192.0.2.2"],
    [["+short", "example.com", "MX"], "10 plain.example.com."],
    [["+short", "example.com", "CAA"], '0 issue "ca.example"'],
    [["+short", "_sip._tcp.example.com", "SRV"], "1 2 5060 plain.example.com."],
    [["+short", "h.example.com", "HTTPS"], '1 . alpn="h3,h2"'],
    [["+short", "alias.example.com", "CNAME"], "plain.example.com."],
    [["+short", "example.com", "SOA"], "ns1.example.com. dns.example.com. 7 10000 2400 604800 1800"],
  ];
  for (const [args, answer] of rows) {
    assert.equal(await dig(...args), answer, args.join(" "));
    assert.equal(await dig("+tcp", ...args), answer, `+tcp ${args.join(" ")}`);
  }
  // dig turns to TCP by itself when an answer over UDP is truncated.
  assert.equal((await dig("+short", "big.example.com", "TXT")).match(/x{255}/g)?.length, 12);
  const whole = await dig("PLAIN.example.com", "A");
  assert.match(whole, /status: NOERROR/);
  assert.match(whole, /flags: qr aa rd;/);
  assert.match(whole, /EDNS: version: 0, flags:; udp: 1232/);
  assert.doesNotMatch(whole, /malformed|mismatch|extra/i);
  assert.match(await dig("nothing.example.com"), /status: NXDOMAIN[\s\S]*SOA/);
  assert.match(await dig("example.org"), /status: REFUSED[\s\S]*EDE: 20 \(Not Authoritative\)/);
  assert.match(await dig("+edns=1", "+noednsnegotiation", "example.com"), /status: BADVERS/);
  assert.match(await dig("CH", "TXT", "version.bind"), /status: REFUSED/);
  assert.match(await dig("example.com", "AXFR"), /Transfer failed/);
});

testPaths("dig and kdig get cookies, keep them, and learn the server's name", async (t, path) => {
  const reason = toolOrSkip("dig") || toolOrSkip("kdig");
  if (reason) return t.skip(reason);
  const { port } = await start(t, path, {
    nsid: "ns-fra-1",
    rateLimit: { perSecond: 1, allPerSecond: 0, slip: 0, exempt: [], table: createRateTable() },
  });
  const ask = async (program: "dig" | "kdig", ...args: string[]): Promise<string> =>
    (await run(program, ["@127.0.0.1", "-p", String(port), ...args], { timeout: 60_000 })).stdout;
  const dig = (...args: string[]): Promise<string> => ask("dig", "+tries=1", "+timeout=30", ...args);

  const first = await dig("plain.example.com", "+cookie=2464c4abcf10c957");
  const cookie = /COOKIE: (2464c4abcf10c95701000000[0-9a-f]{24}) \(good\)/.exec(first)?.[1];
  assert.ok(cookie, first);
  // Known from now on: the limit of one a second is for others.
  for (let i = 0; i < 5; i++) {
    const next = await dig("plain.example.com", `+cookie=${cookie}`);
    assert.match(next, /status: NOERROR[\s\S]*192\.0\.2\.2/);
    assert.match(next, /COOKIE: [0-9a-f]{48} \(good\)/);
  }
  // kdig holds the answer's cookie against its own, and asks again by itself where a server says BADCOOKIE.
  const kdig = await ask(
    "kdig",
    `+cookie=${cookie}`,
    "+nsid",
    "+ednsopt=65001:c0ffee",
    "+timeout=30",
    "+retry=0",
    "alias.example.com",
    "A",
  );
  assert.match(kdig, /status: NOERROR/);
  assert.match(kdig, /NSID: [0-9A-F]+ "ns-fra-1"/i);
  assert.match(kdig, new RegExp(`COOKIE: ${cookie}`, "i"));
  assert.doesNotMatch(kdig, /;; (WARNING|ERROR)/);
  assert.match(await dig("+nsid", `+cookie=${cookie}`, "+tcp", "plain.example.com"), /NSID: 6e 73 2d 66 72 61 2d 31 \("ns-fra-1"\)/);
  // A cookie without a question (RFC 7873 §5.4), and one of a length that there is not.
  assert.match(await dig("+header-only", `+cookie=${cookie}`), /status: NOERROR[\s\S]*QUERY: 0,[\s\S]*COOKIE: [0-9a-f]{48}/);
  assert.match(await dig("+cookie=010203", "+tcp", "plain.example.com"), /status: FORMERR[\s\S]*EDNS: version: 0/);
});

testPaths("EDNS as resolvers' operators test it", async (t, path) => {
  const reason = toolOrSkip("dig");
  if (reason) return t.skip(reason);
  const { port, count } = await start(t, path);
  const base = ["@127.0.0.1", "-p", String(port), "+tries=1", "+timeout=30", "+noednsnegotiation", "+nocookie", "+norecurse", "+noad"];
  const SOA = ["SOA", "example.com"];
  const rows: [args: string[], expected: RegExp, unexpected?: RegExp][] = [
    [["+noedns", ...SOA], /status: NOERROR[\s\S]*ANSWER: 1/, /EDNS/],
    [["+edns=0", ...SOA], /status: NOERROR[\s\S]*EDNS: version: 0, flags:; udp: 1232[\s\S]*ANSWER SECTION/],
    [["+edns=1", ...SOA], /status: BADVERS[\s\S]*ANSWER: 0[\s\S]*EDNS: version: 0/, /ANSWER SECTION/],
    [["+edns=100", "+dnssec", ...SOA], /status: BADVERS[\s\S]*EDNS: version: 0/, /ANSWER SECTION/],
    [["+edns=0", "+ednsopt=100", ...SOA], /status: NOERROR[\s\S]*EDNS: version: 0[\s\S]*ANSWER SECTION/, /OPT=100/],
    [["+edns=1", "+ednsopt=100", ...SOA], /status: BADVERS/, /OPT=100|ANSWER SECTION/],
    [["+edns=0", "+ednsflags=0x80", ...SOA], /status: NOERROR[\s\S]*EDNS: version: 0, flags:;/, /MBZ/],
    [["+edns=0", "+dnssec", ...SOA], /status: NOERROR[\s\S]*EDNS: version: 0, flags: do;/],
    [["+edns=0", "+bufsize=512", "+ignore", "TXT", "big.example.com"], /flags: qr aa( tc)?;[\s\S]*EDNS: version: 0/],
    [["+edns=0", "+subnet=192.0.2.0/24", ...SOA], /status: NOERROR/, /CLIENT-SUBNET/],
    [["+edns=0", "+opcode=15", "+header-only"], /opcode: RESERVED15, status: NOTIMP/],
    [["+edns=0", "+zflag", ...SOA], /status: NOERROR/, /MBZ|flags:[^;]*\bz\b/],
    [["+edns=0", "+adflag", "+cdflag", ...SOA], /flags: qr aa;/],
    [["+edns=0", "TYPE1000", "example.com"], /status: NOERROR[\s\S]*ANSWER: 0, AUTHORITY: 1/],
    [["+edns=0", "-c", "CH", "TXT", "version.bind"], /status: REFUSED/],
    [["+edns=0", "-c", "CH", "TXT", "id.server"], /status: REFUSED/],
    [["+edns=0", "-c", "CH", "TXT", "hostname.bind"], /status: REFUSED/],
    [["+edns=0", "-c", "ANY", "TXT", "example.com"], /status: REFUSED/],
  ];
  for (const [args, expected, unexpected] of rows) {
    for (const transport of ["+notcp", "+tcp"]) {
      const { stdout } = await run("dig", [...base, transport, ...args], { timeout: 60_000 });
      assert.match(stdout, expected, `${transport} ${args.join(" ")}`);
      if (unexpected) assert.doesNotMatch(stdout, unexpected, `${transport} ${args.join(" ")}`);
      assert.doesNotMatch(stdout, /malformed|mismatch|extra bytes/i);
    }
  }
  assert.equal(count("selvedge_dns_internal_errors_total"), 0);
});

testPaths("an applied op is in the next answer over both transports", async (t, path) => {
  const { port, replica } = await start(t, path);
  const ask = async (): Promise<string[]> => {
    const bytes = query("plain.example.com", TYPE.A);
    const socket = await open(t, port);
    socket.write(framed(bytes));
    const [tcp] = await readMessages(socket, 1);
    return [await askUdp(port, bytes), tcp as Buffer].map((response) =>
      decodeMessage(response)
        .answers.map((record) => record.rdata.join("."))
        .join(" "),
    );
  };
  assert.deepEqual(await ask(), ["192.0.2.2", "192.0.2.2"]);
  for (let round = 0; round < 20; round++) {
    replica.apply([
      {
        ...recordOp(Z, "plain.example.com", "A", "192.0.2.2"),
        value: (recordOp(Z, "plain.example.com", "A", `198.51.100.${round}`) as Extract<Op, { kind: "record" }>).value,
      } as Op,
      serialOp(Z, 8 + round),
    ]);
    assert.deepEqual(await ask(), [`198.51.100.${round}`, `198.51.100.${round}`]);
  }
  replica.replace(BASE);
  assert.deepEqual(await ask(), ["192.0.2.2", "192.0.2.2"]);
});

test("the nameserver answers pipelined TCP messages in order, in segments of any size", async (t) => {
  const { port } = await start(t, PATHS[0] as Path);
  const socket = await open(t, port);
  const stream = Buffer.concat(Array.from({ length: 40 }, (_, id) => framed(query("plain.example.com", TYPE.A, id))));
  for (let at = 0; at < stream.length; at += 7) {
    socket.write(stream.subarray(at, at + 7));
    if (at % 70 === 0) await new Promise(setImmediate);
  }
  const ids = (await readMessages(socket, 40)).map((message) => message.readUInt16BE(0));
  assert.deepEqual(
    ids,
    Array.from({ length: 40 }, (_, id) => id),
  );
});

test("the nameserver stops reading from a client that does not read its answers, and loses none of them", async (t) => {
  const { port, count } = await start(t, PATHS[0] as Path);
  const socket = await open(t, port);
  socket.pause();
  const total = 20_000;
  const question = framed(query("big.example.com", 16));
  socket.write(Buffer.concat(Array.from({ length: total }, () => question)));
  // The kernel's buffers hold some megabytes; the 60 MB of all the answers must not be waiting in memory.
  let before = -1;
  for (let asked = 0; asked !== before;) {
    before = asked;
    await new Promise((resolve) => setTimeout(resolve, 100));
    asked = count("selvedge_dns_queries_total");
  }
  assert.ok(before < total, `${before} of ${total} were answered without being read`);
  let bytes = 0;
  const size = (await askTcpSize(t, port)) + 2;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes >= size * total) break;
  }
  assert.equal(bytes, size * total);
});

async function askTcpSize(t: TestContext, port: number): Promise<number> {
  const socket = await open(t, port);
  socket.write(framed(query("big.example.com", 16)));
  return ((await readMessages(socket, 1))[0] as Buffer).length;
}

/** However it ends: closing over bytes that nobody reads any more is a reset. */
const closed = (socket: Socket): Promise<unknown> => {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => reject(new Error("the connection is still open")), PATIENCE_MS);
  socket
    .resume()
    .on("error", () => {})
    .once("close", resolve);
  return promise.finally(() => clearTimeout(timer));
};

test("the nameserver closes an address's longest idle TCP connection above its limit, and connections without DNS messages", async (t) => {
  const { port } = await start(t, PATHS[0] as Path, { limits: { ...NAMESERVER_LIMITS, tcpConnectionsPerAddressMax: 2 } });
  const idle = await open(t, port);
  const half = await open(t, port);
  const garbage = await open(t, port);
  await closed(idle);
  garbage.write(Buffer.of(0, 0, 0, 0));
  await closed(garbage);
  half.end(framed(query("plain.example.com", TYPE.A)));
  assert.equal((await readMessages(half, 1)).length, 1);
});

test("the nameserver closes TCP connections without a complete message in time, whatever bytes they send", async (t) => {
  const { port } = await start(t, PATHS[0] as Path, { limits: { ...NAMESERVER_LIMITS, tcpIdleTimeoutMs: 150 } });
  const silent = await open(t, port);
  const trickling = await open(t, port);
  trickling.write(Buffer.of(1, 0));
  const trickle = setInterval(() => trickling.write(Buffer.of(1)), 20);
  t.after(() => clearInterval(trickle));
  await Promise.all([closed(silent), closed(trickling)]);
});

test("the nameserver closes TCP connections that send no more queries or do not read their answers", async (t) => {
  const { port, count } = await start(t, PATHS[0] as Path, { limits: { ...NAMESERVER_LIMITS, tcpIdleTimeoutMs: 1_000 } });
  const idle = await open(t, port);
  idle.write(framed(query("plain.example.com", TYPE.A)));
  assert.equal((await readMessages(idle, 1)).length, 1);
  await closed(idle);

  const deaf = await open(t, port);
  deaf.pause();
  const question = framed(query("big.example.com", 16));
  deaf.write(Buffer.concat(Array.from({ length: 20_000 }, () => question)));
  // The client goes on asking, which alone keeps nobody.
  const asking = setInterval(() => deaf.write(question), 50);
  t.after(() => clearInterval(asking));
  await eventually(() => count("selvedge_dns_tcp_connections") === 0);
  assert.ok(count("selvedge_dns_queries_total") < 20_000);
});

testPaths("two nameservers share a port when told to", async (t, path) => {
  const { port } = await start(t, path, { reusePort: true });
  const second = await start(t, path, { reusePort: true, port });
  assert.equal(second.port, port);
  for (let i = 0; i < 10; i++) assert.equal(decodeMessage(await askUdp(port, query("plain.example.com", TYPE.A, i))).id, i);
});

testPaths("a port that is taken is an error", async (t, path) => {
  const { port } = await start(t, path);
  const deps = {
    replica: createMemoryReplica(),
    metrics: createMetrics(),
    ...NAMESERVER_PARTS,
    sockets: path[1],
  };
  await assert.rejects(createNameserver({ ...deps, config: nameserverConfig({ port }) }).listen(), { code: "EADDRINUSE" });
  assert.throws(() => createNameserver({ ...deps, config: nameserverConfig({ edgeAddresses: ["nonsense"] }) }), RangeError);
});

testPaths("garbage on the sockets leaves the server answering", async (t, path) => {
  const { port, count } = await start(t, path);
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  for (let i = 0; i < 300; i++) {
    const bytes = Buffer.from(Array.from({ length: i % 40 }, (_, at) => (i * 31 + at * 17) & 0xff));
    await new Promise((resolve) => socket.send(bytes, port, "127.0.0.1", resolve));
  }
  assert.equal(decodeMessage(await askUdp(port, query("plain.example.com", TYPE.A))).answers.length, 1);
  assert.equal(count("selvedge_dns_internal_errors_total"), 0);
});

testPaths("IPv6 clients are answered, and IPv4 ones on the address of both", async (t, path) => {
  if (skipWithoutIpv6 !== false) return t.skip(skipWithoutIpv6);
  const only = await start(t, path, { host: "::1" });
  const both = await start(t, path, { host: "::" });
  const bytes = query("plain.example.com", TYPE.A, 77);
  for (const [port, host] of [
    [only.port, "::1"],
    [both.port, "::1"],
    [both.port, "127.0.0.1"],
  ] as const) {
    assert.equal(decodeMessage(await askUdp(port, bytes, host)).id, 77, `${host} of ${port}`);
  }
});

testPaths("of many datagrams at once each sender gets the answers to its own", async (t, path) => {
  const { port, count } = await start(t, path);
  const names = ["plain.example.com", "PLAIN.example.com", "alias.example.com", "nothing.example.com", "example.org", "big.example.com"];
  const asked = 400;
  const ask = async (client: number): Promise<void> => {
    const socket = createSocket("udp4");
    t.after(() => socket.close());
    const seen = new Map<number, Buffer>();
    socket.on("message", (response) => seen.set(response.readUInt16BE(0), response));
    // Without waiting: they pile up in the server's socket. Lost queries are repeated.
    for (let tries = 0; seen.size < asked; tries++) {
      assert.ok(tries < 1000, `${asked - seen.size} questions are never answered`);
      for (let id = 0; id < asked; id++) {
        const name = names[(id + client) % names.length] as string;
        if (!seen.has(id)) socket.send(query(name, TYPE.A, id), port, "127.0.0.1");
        if (id % 7 === 0 && tries === 0) socket.send(Buffer.of(id, client), port, "127.0.0.1");
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (const [id, response] of seen) {
      const { questions, flags } = decodeMessage(response);
      const name = names[(id + client) % names.length] as string;
      assert.deepEqual(questions[0]?.name, parseAbsoluteName(name));
      assert.equal(flags & 0xf, name.startsWith("nothing") ? 3 : name === "example.org" ? 5 : 0);
    }
  };
  await Promise.all([ask(0), ask(1), ask(2)]);
  assert.equal(count("selvedge_dns_internal_errors_total"), 0);
  assert.ok(count("selvedge_dns_dropped_total") > 0);
});

testPaths("a port is nobody else's while it is served, and free afterwards", async (t, path) => {
  const replica = createMemoryReplica(BASE);
  const deps = { ...NAMESERVER_PARTS, sockets: path[1] };
  const nameserver = createNameserver({ replica, metrics: createMetrics(), config: nameserverConfig(), ...deps });
  const { udp: port } = await nameserver.listen();
  t.after(() => nameserver.close(100));
  const claim = async (): Promise<void> => {
    const socket = createSocket({ type: "udp4", reuseAddr: true });
    try {
      socket.bind(port, "127.0.0.1");
      await once(socket, "listening");
    } finally {
      socket.close();
    }
  };
  await assert.rejects(claim(), { code: "EADDRINUSE" });
  await nameserver.close(100);
  await claim();
});
