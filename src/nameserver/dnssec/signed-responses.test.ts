import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, EDNS_FLAG, FLAG, OPTION, RCODE, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message } from "#wire/dns/message.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { assertSigned } from "../../../test/support/dnssec-verifier.ts";
import { clientAt, responderParts } from "../../../test/support/nameserver.ts";
import { keyRdata } from "../../../test/support/signed-server.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { createAnswerCache } from "#nameserver/responder/answer-cache.ts";
import { createCounters } from "#nameserver/message/counters.ts";
import type { FindExternal } from "#nameserver/external/external-names.ts";
import { createQuickAnswers } from "#nameserver/responder/fast-path.ts";
import { createResponder } from "#nameserver/responder/respond.ts";
import { createZones } from "#nameserver/zones/zones.ts";

const Z = "zone1";
const DO = EDNS_FLAG.DO;
const CO = EDNS_FLAG.CO;
const UDP = clientAt("udp");
const TCP = clientAt("tcp");
const BASE = [
  zoneOp(Z, "example.com"),
  serialOp(Z, 1),
  recordOp(Z, "www.example.com", "A", "192.0.2.1"),
  ...Array.from({ length: 5 }, (_, i) => recordOp(Z, "medium.example.com", "TXT", `"${String(i).repeat(220)}"`)),
];

function query(name: string, type: number, ednsFlags?: number): Buffer {
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: 1232, ttl: ednsFlags ?? 0, rdata: Buffer.alloc(0) };
  const question = { name: parseAbsoluteName(name), type, class: CLASS.IN };
  const additionals = ednsFlags === undefined ? [] : [opt];
  return encodeMessage({ id: 1, flags: 0, questions: [question], answers: [], authorities: [], additionals }) as Buffer;
}

function setUp(ops: readonly Op[] = [...BASE, dnssecOp(Z, [zoneKey("k")])]) {
  const metrics = createMetrics();
  const parts = responderParts();
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  const cache = createAnswerCache({ entriesMax: 100, clock: parts.clock });
  const counters = createCounters(metrics);
  const respond = createResponder({ zones, cache, counters, ...parts });
  const quickAnswer = createQuickAnswers({ cache, counters, ...parts });
  const ask = (name: string, type: number, ednsFlags?: number, client = UDP): Message => {
    const response = respond(query(name, type, ednsFlags), client);
    assert.ok(response instanceof Buffer);
    return decodeMessage(response);
  };
  const count = (name: string): number => metrics.samples().find((sample) => sample.name === name)?.value ?? 0;
  /** The answer from the cache, by the path that allocates nothing; undefined where it is not there. */
  const askQuickly = (name: string, type: number, ednsFlags: number): Message | undefined => {
    const input = query(name, type, ednsFlags);
    const output = Buffer.alloc(2048);
    const at = {
      start: 0,
      outStart: 0,
      addresses: UDP.address,
      addressStart: 0,
      addressBytes: 4,
      port: 4242,
      receivedMs: parts.clock.nowMs(),
    };
    const bytes = quickAnswer({ ...at, input, length: input.length, output });
    return bytes <= 0 ? undefined : decodeMessage(output.subarray(0, bytes));
  };
  return { ask, askQuickly, cache, clock: parts.clock, count };
}

const typesOf = (records: Message["answers"]): number[] => records.map(({ type }) => type);
const echoed = ({ additionals }: Message): number => (additionals.at(-1)?.ttl ?? 0) & 0xffff;

test("only clients that set DO get signatures, and other answers equal those of an unsigned zone", () => {
  const [signed, unsigned] = [setUp(), setUp(BASE)];
  for (const name of ["www.example.com", "no.example.com", "example.com"])
    for (const flags of [undefined, 0, CO]) {
      const sections = ({ answers, authorities, flags: header }: Message): unknown => [answers, authorities, header];
      assert.deepEqual(sections(signed.ask(name, TYPE.A, flags)), sections(unsigned.ask(name, TYPE.A, flags)));
    }
  const answer = signed.ask("www.example.com", TYPE.A, DO);
  assert.deepEqual([typesOf(answer.answers), echoed(answer)], [[TYPE.A, TYPE.RRSIG], DO]);
  assert.deepEqual(typesOf(signed.ask("mail.www.example.com", TYPE.A, DO).authorities), [TYPE.SOA, TYPE.RRSIG, TYPE.NSEC, TYPE.RRSIG]);
});

test("RFC 9824 §5.1: a client that sets CO gets NXDOMAIN and CO back, also from the cache", () => {
  const { ask, count } = setUp();
  for (let round = 0; round < 2; round++) {
    const plain = ask("no.example.com", TYPE.A, DO);
    assert.deepEqual([plain.flags & 0xf, echoed(plain)], [RCODE.NOERROR, DO]);
    const compact = ask("no.example.com", TYPE.A, DO | CO);
    assert.deepEqual([compact.flags & 0xf, echoed(compact)], [RCODE.NXDOMAIN, DO | CO]);
    assert.equal(ask("no.example.com", TYPE.A, CO).flags & 0xf, RCODE.NXDOMAIN);
    assert.equal(echoed(ask("www.example.com", TYPE.A, CO)), 0);
  }
  assert.equal(count("selvedge_dns_cache_hits_total"), 4);
});

test("the fast path serves signed answers as long as they are fresh, separately for DO and CO", () => {
  const { ask, askQuickly, clock } = setUp();
  for (const flags of [DO, DO | CO])
    for (const name of ["www.example.com", "no.example.com"]) {
      assert.equal(askQuickly(name, TYPE.A, flags), undefined);
      const known = ask(name, TYPE.A, flags);
      assert.deepEqual(askQuickly(name, TYPE.A, flags), known);
    }
  clock.advance(14 * 86_400_000);
  assert.equal(askQuickly("www.example.com", TYPE.A, DO), undefined);
});

test("a signed answer over 1232 bytes is truncated over UDP and complete over TCP", () => {
  const { ask } = setUp();
  assert.equal(ask("medium.example.com", 16, 0).flags & FLAG.TC, 0);
  const cut = ask("medium.example.com", 16, DO);
  assert.deepEqual([cut.flags & FLAG.TC, cut.answers.length], [FLAG.TC, 0]);
  const whole = ask("medium.example.com", 16, DO, TCP);
  assert.deepEqual([whole.flags & FLAG.TC, whole.answers.length], [0, 6]);
});

test("cached answers expire with their signatures", () => {
  const { ask, cache, clock } = setUp();
  const rrsig = (): Uint8Array | undefined => ask("www.example.com", TYPE.A, DO).answers[1]?.rdata;
  const first = rrsig();
  clock.advance(3 * 86_400_000);
  assert.deepEqual(rrsig(), first);
  clock.advance(7 * 86_400_000);
  assert.notDeepEqual(rrsig(), first);
  assert.equal(cache.entryCount, 1);
});

test("a flood of random names first uses up a network's signatures, then gets truncated answers, then none", () => {
  const { ask, clock, count } = setUp();
  const flood = (client: typeof UDP): Message[] =>
    Array.from({ length: 700 }, (_, i) => ask(`r${i}-${clock.nowMs()}.example.com`, TYPE.A, DO, client));
  const udp = flood(UDP);
  const truncated = udp.filter(({ flags, authorities }) => (flags & FLAG.TC) !== 0 && authorities.length === 0);
  assert.deepEqual([udp.filter(({ authorities }) => authorities.length === 4).length, truncated.length], [500, 200]);
  assert.ok(truncated.every((message) => echoed(message) === DO));
  const tcp = flood(TCP);
  const refused = tcp.filter(({ flags }) => (flags & 0xf) === RCODE.SERVFAIL);
  assert.deepEqual([tcp.filter(({ authorities }) => authorities.length === 4).length, refused.length], [500, 200]);
  assert.equal(count("selvedge_dns_signing_limited_total"), 400);
  // Neither who needs no new signature nor another network feels it.
  assert.equal(ask("www.example.com", TYPE.A, DO).answers.length, 2);
  assert.equal(ask("random.example.com", TYPE.A, 0).flags & 0xf, RCODE.NXDOMAIN);
  assert.equal(ask("other.example.com", TYPE.A, DO, clientAt("udp", [198, 51, 101, 1])).authorities.length, 4);
  clock.advance(2000);
  assert.equal(ask("again.example.com", TYPE.A, DO).authorities.length, 4);
});

test("addresses from an external look-up are signed when they arrive", async () => {
  const parts = responderParts();
  const zones = createZones();
  const key = zoneKey("k");
  zones.rebuild(
    createMemoryReplica([zoneOp(Z, "example.com"), dnssecOp(Z, [key]), recordOp(Z, "example.com", "CNAME", "www.elsewhere.example")])
      .snapshot,
  );
  const known: FindExternal = (_name, type) => ({
    rdatas: type === TYPE.A ? [Buffer.of(198, 51, 100, 7)] : [],
    ttl: 60,
    state: "good",
    keepMs: 60_000,
  });
  const outside = { find: () => undefined, complete: async <T>(make: (find: FindExternal) => T) => make(known) };
  const cache = createAnswerCache({ entriesMax: 100, clock: parts.clock });
  const respond = createResponder({ zones, cache, counters: createCounters(createMetrics()), ...parts, outside });
  const later = async (type: number): Promise<Message> => decodeMessage((await respond(query("example.com", type, DO), UDP)) as Buffer);

  const found = await later(TYPE.A);
  assert.deepEqual(typesOf(found.answers), [TYPE.A, TYPE.RRSIG]);
  const set = { owner: keyOf(parseAbsoluteName("example.com")), type: TYPE.A, ttl: 60, rdatas: [Buffer.of(198, 51, 100, 7)] };
  assertSigned(set, found.answers[1]?.rdata ?? Buffer.alloc(0), [keyRdata(key)], parts.clock.nowMs() / 1000);
  // A negative result is cached for its TTL.
  const none = await later(TYPE.AAAA);
  assert.deepEqual(typesOf(none.authorities), [TYPE.SOA, TYPE.RRSIG, TYPE.NSEC, TYPE.RRSIG]);
  assert.deepEqual([...new Set(none.authorities.map(({ ttl }) => ttl))], [60]);
});

test("a zone that cannot be signed gives answers only to clients that do not validate", () => {
  const { ask, cache } = setUp([...BASE, dnssecOp(Z, [])]);
  assert.equal(ask("www.example.com", TYPE.A).answers.length, 1);
  const refused = ask("www.example.com", TYPE.A, DO);
  assert.deepEqual([refused.flags & 0xf, refused.answers.length], [RCODE.SERVFAIL, 0]);
  const extended = Buffer.from(refused.additionals.at(-1)?.rdata ?? []);
  assert.deepEqual([extended.readUInt16BE(0), extended.readUInt16BE(4)], [OPTION.EXTENDED_ERROR, 14]);
  assert.equal(cache.entryCount, 1);
});
