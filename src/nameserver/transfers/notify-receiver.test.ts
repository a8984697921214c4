import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op, TransferPeerEntry, TsigEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, OPCODE, opcodeOf, RCODE, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { createAnswerVerifier, createTsigKey, signRequest } from "#wire/dns/tsig.ts";
import { askTcp, queryFor } from "../../../test/support/dns-client.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { NAMESERVER_PARTS, nameserverConfig, SEALER } from "../../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { createNameserver } from "#nameserver/nameserver.ts";

const SECRET = Buffer.from("a secret that two servers share");
const KEY = createTsigKey("key.example", "hmac-sha256", SECRET);
const tsig: TsigEntry = {
  id: "k",
  name: "key.example",
  algorithm: "hmac-sha256",
  secret: SEALER.seal(SECRET.toString("base64"), "tsig:k"),
};
const peer = (ip: string, key: TsigEntry | null = null): TransferPeerEntry => ({ ip, port: 53, tsig: key });
const fetched = (id: string, peers: readonly TransferPeerEntry[], acl: readonly string[] = []): Op => ({
  kind: "transfer",
  id,
  value: { outgoing: null, incoming: { peers, acl } },
});
const secondary = (id: string, change: Parameters<typeof zoneOp>[2] = {}): readonly Op[] => [
  zoneOp(id, `${id}.example`, { type: "secondary", ...change }),
  serialOp(id, 5),
];

async function serve(ops: readonly Op[]) {
  const notified: string[] = [];
  const nameserver = createNameserver({
    ...NAMESERVER_PARTS,
    replica: createMemoryReplica(ops),
    metrics: createMetrics(),
    config: nameserverConfig(),
    onNotified: (zoneId, from) => {
      assert.equal(from, "127.0.0.1");
      notified.push(zoneId);
    },
  });
  const { tcp: port } = await nameserver.listen();
  const ask = async (message: Buffer): Promise<Message> => decodeMessage((await askTcp(port, [message]))[0] as Buffer);
  return { notified, nameserver, port, ask };
}

const notify = (name: string, change: Partial<Message> = {}): Buffer =>
  encodeMessage({
    id: 77,
    flags: (OPCODE.NOTIFY << 11) | FLAG.AA,
    questions: [{ name: parseAbsoluteName(name), type: TYPE.SOA, class: CLASS.IN }],
    // RFC 1996 §3.7: the new SOA, as most primaries send it.
    answers: [{ name: parseAbsoluteName(name), type: TYPE.SOA, class: CLASS.IN, ttl: 0, rdata: Buffer.alloc(22) }],
    authorities: [],
    additionals: [],
    ...change,
  }) as Buffer;

test("the nameserver acknowledges and forwards a NOTIFY from a primary, and refuses one from another address", async (t) => {
  const { notified, nameserver, ask } = await serve([
    ...secondary("ours"),
    fetched("ours", [peer("127.0.0.1")]),
    ...secondary("listed"),
    fetched("listed", [peer("192.0.2.1")], ["127.0.0.0/28"]),
    ...secondary("strange"),
    fetched("strange", [peer("192.0.2.1")]),
    ...secondary("unfetched"),
    ...secondary("full", { type: "full" }),
    fetched("full", [peer("127.0.0.1")]),
  ]);
  t.after(() => nameserver.close(0));
  const question = [{ name: parseAbsoluteName("ours.example"), type: TYPE.A, class: CLASS.IN }];
  const cases: readonly (readonly [Buffer, number])[] = [
    [notify("OURS.example"), RCODE.NOERROR],
    [notify("listed.example", { answers: [] }), RCODE.NOERROR],
    [notify("strange.example"), RCODE.REFUSED],
    [notify("unfetched.example"), RCODE.NOTAUTH],
    [notify("full.example"), RCODE.NOTAUTH],
    [notify("below.ours.example"), RCODE.NOTAUTH],
    [notify("elsewhere.test"), RCODE.NOTAUTH],
    [notify("ours.example", { questions: question }), RCODE.FORMERR],
    [notify("ours.example").subarray(0, -1), RCODE.FORMERR],
  ];
  for (const [message, rcode] of cases) {
    const { id, flags, answers } = await ask(message);
    assert.deepEqual([id, flags & 0xf, opcodeOf(flags), answers.length], [77, rcode, OPCODE.NOTIFY, 0]);
    assert.equal((flags & FLAG.AA) !== 0, rcode === RCODE.NOERROR);
  }
  assert.deepEqual(notified, ["ours", "listed"]);
  const { flags } = await ask(encodeMessage({ ...decodeMessage(notify("ours.example")), flags: 0 }) as Buffer);
  assert.equal(flags & 0xf, RCODE.FORMERR, "a query has no answers");
});

test("a peer with a key needs a valid signature", async (t) => {
  const { notified, nameserver, ask, port } = await serve([
    ...secondary("ours"),
    fetched("ours", [peer("127.0.0.1", tsig)], ["127.0.0.1/32"]),
  ]);
  t.after(() => nameserver.close(0));
  const rcode = async (message: Buffer): Promise<number> => (await ask(message)).flags & 0xf;
  const now = Math.floor(NAMESERVER_PARTS.clock.nowMs() / 1000);
  assert.equal(await rcode(notify("ours.example")), RCODE.REFUSED);
  const forged = createTsigKey("key.example", "hmac-sha256", Buffer.from("another secret of two servers"));
  assert.equal(await rcode(signRequest(notify("ours.example"), forged, now).bytes), RCODE.NOTAUTH);
  assert.deepEqual(notified, []);
  const { bytes, mac } = signRequest(notify("ours.example"), KEY, now);
  const [response] = await askTcp(port, [bytes]);
  assert.ok(response);
  assert.equal(createAnswerVerifier(KEY, mac, () => now).accept(response), null, "the acknowledgement is signed too");
  assert.deepEqual(notified, ["ours"]);
});

test("many NOTIFY messages for a zone make two notices: one at once, and one after the interval", async (t) => {
  const { notified, nameserver, ask } = await serve([...secondary("ours"), fetched("ours", [peer("127.0.0.1")])]);
  t.after(() => nameserver.close(0));
  for (let i = 0; i < 20; i++) await ask(notify("ours.example"));
  assert.ok(notified.length >= 1 && notified.length < 20);
  await eventually(() => notified.length >= 2);
  assert.deepEqual(new Set(notified), new Set(["ours"]));
});

test("queries for an expired zone get SERVFAIL until it is refreshed", async (t) => {
  const replica = createMemoryReplica([...secondary("gone", { expired: true }), recordOp("gone", "www.gone.example", "A", "192.0.2.1")]);
  const nameserver = createNameserver({ ...NAMESERVER_PARTS, replica, metrics: createMetrics(), config: nameserverConfig() });
  const { tcp: port } = await nameserver.listen();
  t.after(() => nameserver.close(0));
  const ask = async (name: string, type: number): Promise<Message> =>
    decodeMessage((await askTcp(port, [queryFor(name, type, 3)]))[0] as Buffer);
  for (const [name, type] of [
    ["www.gone.example", TYPE.A],
    ["nothing.gone.example", TYPE.A],
    ["gone.example", TYPE.SOA],
    ["gone.example", TYPE.ANY],
  ] as const) {
    const { flags, answers, authorities } = await ask(name, type);
    assert.deepEqual([flags & (FLAG.AA | 0xf), answers.length + authorities.length], [RCODE.SERVFAIL, 0], name);
  }
  // RFC 8914 §4.25: the zone is there, its data is not.
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: 1232, ttl: 0, rdata: Buffer.alloc(0) };
  const withEdns = encodeMessage({ ...decodeMessage(queryFor("gone.example", TYPE.NS, 4)), additionals: [opt] }) as Buffer;
  const told = decodeMessage((await askTcp(port, [withEdns]))[0] as Buffer).additionals.find(({ type }) => type === TYPE.OPT);
  assert.equal(Buffer.from(told?.rdata ?? []).toString("hex"), "000f00020018");
  replica.apply([...secondary("gone")]);
  assert.equal((await ask("www.gone.example", TYPE.A)).answers.length, 1);
});

test("a secondary's own alias at the apex replaces its primary's addresses while overrides are on", async (t) => {
  const ops = (overrides: boolean): readonly Op[] => [
    ...secondary("ours", { secondary_overrides: overrides }),
    recordOp("ours", "ours.example", "A", "192.0.2.1"),
    recordOp("ours", "ours.example", "CNAME", "target.ours.example."),
    recordOp("ours", "target.ours.example", "A", "192.0.2.2"),
  ];
  for (const [overrides, last] of [
    [true, 2],
    [false, 1],
  ] as const) {
    const { nameserver, ask } = await serve(ops(overrides));
    t.after(() => nameserver.close(0));
    const { answers } = await ask(queryFor("ours.example", TYPE.A, 9));
    assert.deepEqual(
      answers.map(({ type, rdata }) => [type, rdata.at(-1)]),
      [[TYPE.A, last]],
    );
  }
});
