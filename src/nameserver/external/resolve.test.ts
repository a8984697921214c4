import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { parseIp } from "#kernel/net/ip.ts";
import { CLASS, FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message, type ResourceRecord } from "#wire/dns/message.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import type { Server } from "./query-server.ts";
import { createResolve, type Resolution } from "./resolve.ts";

const record = (name: string, type: number, ttl: number, rdata: Buffer): ResourceRecord => ({
  name: parseAbsoluteName(name),
  type,
  class: CLASS.IN,
  ttl,
  rdata,
});
const a = (name: string, last: number, ttl = 300) => record(name, TYPE.A, ttl, Buffer.of(192, 0, 2, last));
const cname = (name: string, target: string, ttl = 300) => record(name, TYPE.CNAME, ttl, parseAbsoluteName(target));
/** With a TTL and a minimum. */
const soa = (ttl: number, minimum: number) => {
  const numbers = Buffer.alloc(20);
  numbers.writeUInt32BE(minimum, 16);
  return record("example", TYPE.SOA, ttl, Buffer.concat([parseAbsoluteName("ns.example"), parseAbsoluteName("host.example"), numbers]));
};
const REFERRAL = record("example", TYPE.NS, 300, parseAbsoluteName("ns.example"));

type Answers = (name: string) => Partial<Message> | undefined;

/** A resolver whose answers the function makes; silent where it makes none. */
async function serve(t: TestContext, answers: Answers): Promise<Server & { readonly asked: string[] }> {
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const asked: string[] = [];
  socket.on("message", (bytes, peer) => {
    const query = decodeMessage(bytes);
    const name = formatName(query.questions[0]?.name ?? Buffer.of(0));
    asked.push(name);
    const answer = answers(name);
    if (answer) socket.send(encodeMessage({ ...query, flags: FLAG.QR, ...answer }) as Buffer, peer.port, peer.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { ip: parseIp("127.0.0.1") as Server["ip"], port: socket.address().port, asked };
}

const limits = { serverTimeoutMs: 1_000, lookupTimeoutMs: 60_000 };

async function look(servers: readonly Server[], name = "www.example", type: number = TYPE.A): Promise<string> {
  const isOurs = (key: string): boolean => key.endsWith(keyOf(parseAbsoluteName("ours.test")));
  const resolve = createResolve({ servers, isOurs, limits, closing: new AbortController().signal });
  return show(await resolve({ name: parseAbsoluteName(name), type }));
}

const show = ({ rdatas, ttl, ours }: Resolution): string =>
  [ttl, ...rdatas.map((rdata) => rdata[3]), ...(ours ? [formatName(ours)] : [])].join(" ");

test("addresses at the end of an alias chain get its lowest TTL, and unrequested records are ignored", async (t) => {
  const server = await serve(t, () => ({
    answers: [a("other.example", 66), cname("www.example", "hop.example", 90), a("hop.example", 1), a("hop.example", 2, 120)],
  }));
  assert.equal(await look([server]), "90 1 2");
});

test("the resolver queries the target of an alias that the server did not follow", async (t) => {
  const chain: Record<string, ResourceRecord> = {
    "www.example": cname("www.example", "two.example", 70),
    "two.example": cname("two.example", "three.example"),
    "three.example": a("three.example", 3),
  };
  const server = await serve(t, (name) => ({ answers: [chain[name] as ResourceRecord] }));
  assert.equal(await look([server]), "70 3");
  assert.deepEqual(server.asked, ["www.example", "two.example", "three.example"]);
});

test("a negative answer is cached for the time in its SOA (RFC 2308)", async (t) => {
  const noData = await serve(t, () => ({ authorities: [soa(600, 40)] }));
  assert.equal(await look([noData]), "40");
  const noName = await serve(t, () => ({ flags: FLAG.QR | RCODE.NXDOMAIN, authorities: [soa(30, 900)] }));
  assert.equal(await look([noName]), "30");
  const dangling = await serve(t, () => ({ flags: FLAG.QR | RCODE.NXDOMAIN, answers: [cname("www.example", "gone.example", 20)] }));
  assert.equal(await look([dangling]), "20");
  assert.equal(await look([await serve(t, () => ({}))]), "60");
});

test("a chain of aliases ends at a name in our zones", async (t) => {
  const server = await serve(t, () => ({ answers: [cname("www.example", "www.ours.test", 50), a("www.ours.test", 9)] }));
  assert.equal(await look([server]), "50 www.ours.test");
});

test("the resolver tries the next server after one that fails, refuses, refers elsewhere or stays silent", async (t) => {
  const good = await serve(t, () => ({ answers: [a("www.example", 1)] }));
  const bad = [
    await serve(t, () => ({ flags: FLAG.QR | RCODE.SERVFAIL })),
    await serve(t, () => ({ flags: FLAG.QR | RCODE.REFUSED })),
    await serve(t, () => ({ authorities: [REFERRAL] })),
    await serve(t, () => undefined),
  ];
  for (const server of bad) assert.equal(await look([server, good]), "300 1");
  await assert.rejects(look([bad[0] as Server, bad[1] as Server]), /RCODE 5/);
  await assert.rejects(look([]), /no resolver/);
  let tries = 0;
  const second = await serve(t, () => (++tries < 2 ? undefined : { answers: [a("www.example", 2)] }));
  assert.equal(await look([second]), "300 2");
});

test("loops and endless chains end with an error, and closing the nameserver ends a look-up", async (t) => {
  const circle = await serve(t, () => ({ answers: [cname("www.example", "b.example"), cname("b.example", "www.example")] }));
  await assert.rejects(look([circle]), /loop/);
  const endless = await serve(t, (name) => ({ answers: [cname(name, `x.${name}`)] }));
  await assert.rejects(look([endless]), /too long/);
  assert.equal(endless.asked.length, 8);
  const closing = new AbortController();
  const silent = await serve(t, () => undefined);
  const resolve = createResolve({
    servers: [silent],
    isOurs: () => false,
    limits: { ...limits, serverTimeoutMs: 2_000 },
    closing: closing.signal,
  });
  const pending = resolve({ name: parseAbsoluteName("www.example"), type: TYPE.A });
  closing.abort(new Error("closed"));
  await assert.rejects(pending, /closed/);
});
