import assert from "node:assert/strict";
import { test } from "node:test";
import packet from "dns-packet";
import { fc } from "../../../test/support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { type MemoryReplica, createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import { type Message, decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { clientAt, responderParts } from "../../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { type CachedResponse, createAnswerCache } from "./answer-cache.ts";
import type { Client } from "#nameserver/message/client.ts";
import { createCounters } from "#nameserver/message/counters.ts";
import { ALWAYS_FRESH } from "#nameserver/dnssec/validity.ts";
import { createRateLimit, createRateTable, type RateLimit } from "#nameserver/limits/rate-limit.ts";
import { type Respond, createResponder } from "./respond.ts";
import { createZones } from "#nameserver/zones/zones.ts";

const Z = "zone1";
const BASE: readonly Op[] = [
  zoneOp(Z, "example.com"),
  serialOp(Z, 7),
  recordOp(Z, "www.example.com", "A", "192.0.2.1"),
  recordOp(Z, "www.example.com", "TXT", '"text"'),
  recordOp(Z, "alias.example.com", "CNAME", "www.example.com"),
  recordOp(Z, "*.wild.example.com", "CNAME", "a.wild.example.com"),
  recordOp(Z, "child.example.com", "NS", "ns.child.example.com"),
  recordOp(Z, "big.example.com", "TXT", `"${"x".repeat(255)}" `.repeat(6)),
  recordOp(Z, "medium.example.com", "TXT", `"${"x".repeat(255)}" `.repeat(3)),
];

interface Setup {
  readonly respond: Respond;
  readonly replica: MemoryReplica;
  count(name: string, labels?: Record<string, string>): number;
}

function setup(ops: readonly Op[] = BASE, entriesMax = 100, nsid = "", rateLimit?: RateLimit): Setup {
  const metrics = createMetrics();
  const replica = createMemoryReplica(ops);
  const zones = createZones();
  const parts = responderParts({ nsid, rateLimit, edge: { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] } });
  const cache = createAnswerCache({ entriesMax, clock: parts.clock });
  zones.rebuild(replica.snapshot);
  replica.onApplied((applied) => {
    const changes = zones.apply(applied ?? []);
    if (changes.namespace) cache.clear();
    else cache.dropZones(changes.zones);
  });
  const respond = createResponder({ zones, cache, counters: createCounters(metrics), ...parts });
  const count = (name: string, labels: Record<string, string> = {}): number =>
    metrics.samples().find((sample) => sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels))?.value ?? 0;
  return { respond, replica, count };
}

interface QueryOptions {
  readonly id?: number;
  readonly flags?: number;
  readonly class?: number;
  /** Payload size; undefined: no OPT. */
  readonly edns?: number;
  readonly version?: number;
  readonly dnssecOk?: boolean;
  /** EDNS options in hexadecimal. */
  readonly options?: string;
}

function query(name: string, type: number, options: QueryOptions = {}): Buffer {
  const ttl = ((options.version ?? 0) << 16) | (options.dnssecOk ? 0x8000 : 0);
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: options.edns ?? 0, ttl, rdata: Buffer.from(options.options ?? "", "hex") };
  return encodeMessage({
    id: options.id ?? 4711,
    flags: options.flags ?? FLAG.RD,
    questions: [{ name: parseAbsoluteName(name), type, class: options.class ?? CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: options.edns === undefined ? [] : [opt],
  }) as Buffer;
}

const rcodeOf = (message: Message): number => {
  const opt = message.additionals.find((record) => record.type === TYPE.OPT);
  return (message.flags & 0xf) | (opt ? (opt.ttl >>> 24) << 4 : 0);
};

const UDP = clientAt("udp");

function ask({ respond }: Setup, bytes: Buffer, client = UDP): Message {
  const response = respond(bytes, client);
  assert.ok(response instanceof Buffer, "no response");
  return decodeMessage(response);
}

test("the response repeats the question as the client wrote it, with its identifier and RD, also from the cache", () => {
  const server = setup();
  for (const [name, id, flags] of [
    ["wWw.eXample.COM", 1, FLAG.RD],
    ["www.example.com", 65_535, 0],
    ["WWW.example.com", 3, FLAG.RD],
  ] as const) {
    const response = ask(server, query(name, TYPE.A, { id, flags }));
    assert.equal(formatName(response.questions[0]?.name ?? Buffer.of(0)), name);
    assert.equal(formatName(response.answers[0]?.name ?? Buffer.of(0)), name);
    assert.equal(response.id, id);
    assert.equal(response.flags, FLAG.QR | FLAG.AA | flags);
  }
  assert.equal(server.count("selvedge_dns_cache_hits_total"), 2);
});

test("opcodes, classes and types that the nameserver does not support get NOTIMP or REFUSED", () => {
  const server = setup();
  const rows: [name: string, bytes: Buffer, rcode: number][] = [
    ["NOTIFY", query("example.com", TYPE.SOA, { flags: 4 << 11 }), RCODE.NOTIMP],
    ["UPDATE", query("example.com", TYPE.SOA, { flags: 5 << 11 }), RCODE.NOTIMP],
    ["STATUS", query("example.com", TYPE.SOA, { flags: 2 << 11 }), RCODE.NOTIMP],
    ["CHAOS", query("version.bind", 16, { class: 3 }), RCODE.REFUSED],
    ["class ANY", query("example.com", TYPE.A, { class: 255 }), RCODE.REFUSED],
    ["AXFR", query("example.com", 252), RCODE.REFUSED],
    ["IXFR", query("example.com", 251), RCODE.REFUSED],
    ["OPT as a question", query("example.com", TYPE.OPT), RCODE.FORMERR],
    ["TSIG as a question", query("example.com", 250), RCODE.FORMERR],
    ["MAILB", query("example.com", 253), RCODE.NOTIMP],
    ["a type nobody has", query("www.example.com", 65_280), RCODE.NOERROR],
    ["not our zone", query("example.org", TYPE.A), RCODE.REFUSED],
    ["opcode 15", query("www.example.com", TYPE.A, { flags: 15 << 11 }), RCODE.NOTIMP],
    ["opcode 15 of a version to come", query("www.example.com", TYPE.A, { flags: 15 << 11, edns: 512, version: 9 }), RCODE.BADVERS],
    ["class NONE", query("www.example.com", TYPE.A, { class: 254 }), RCODE.REFUSED],
    ["class 0", query("www.example.com", TYPE.A, { class: 0 }), RCODE.REFUSED],
    ["type 0", query("www.example.com", 0), RCODE.NOERROR],
  ];
  for (const [name, bytes, rcode] of rows) {
    const response = ask(server, bytes);
    assert.equal(rcodeOf(response), rcode, name);
    assert.ok((response.flags & FLAG.QR) !== 0, name);
    assert.equal((response.flags >> 11) & 0xf, (bytes.readUInt16BE(2) >> 11) & 0xf, name);
    assert.equal(response.id, 4711, name);
  }
});

test("the response repeats RD for queries only, since other opcodes do not define it", () => {
  const server = setup();
  for (const opcode of [1, 2, 3, 4, 5, 6, 15])
    assert.equal(ask(server, query("example.com", TYPE.SOA, { flags: (opcode << 11) | FLAG.RD })).flags & FLAG.RD, 0, String(opcode));
  assert.notEqual(ask(server, query("example.com", 253, { flags: FLAG.RD })).flags & FLAG.RD, 0);
});

test("RFC 8914: a client with EDNS gets the reason for a missing answer", () => {
  const server = setup();
  const rows: [name: string, bytes: Buffer, rcode: number, options: string][] = [
    ["not our zone", query("example.org", TYPE.A, { edns: 1232 }), RCODE.REFUSED, "000f00020014"],
    ["AXFR", query("example.com", 252, { edns: 1232 }), RCODE.REFUSED, "000f00020012"],
    ["CHAOS", query("version.bind", 16, { class: 3, edns: 1232 }), RCODE.REFUSED, "000f00020015"],
    ["NXNAME", query("example.com", 128, { edns: 1232 }), RCODE.FORMERR, "000f0002001e"],
    ["MAILB", query("example.com", 253, { edns: 1232 }), RCODE.NOTIMP, "000f00020015"],
    ["BADVERS says it itself", query("example.com", TYPE.A, { edns: 1232, version: 1 }), RCODE.BADVERS, ""],
    ["NXDOMAIN", query("none.example.com", TYPE.A, { edns: 1232 }), RCODE.NXDOMAIN, ""],
    ["an answer", query("www.example.com", TYPE.A, { edns: 1232 }), RCODE.NOERROR, ""],
  ];
  for (const [name, bytes, rcode, options] of rows) {
    const response = ask(server, bytes);
    assert.equal(rcodeOf(response), rcode, name);
    assert.deepEqual(
      response.additionals.map((record) => [record.type, Buffer.from(record.rdata).toString("hex")]),
      [[TYPE.OPT, options]],
      name,
    );
  }
  assert.equal(ask(server, query("example.org", TYPE.A)).additionals.length, 0);
});

test("RFC 6891: a query with OPT gets OPT, a version above 0 gets BADVERS, and DO is repeated", () => {
  const server = setup();
  assert.equal(ask(server, query("www.example.com", TYPE.A)).additionals.length, 0);
  const plain = ask(server, query("www.example.com", TYPE.A, { edns: 4096 })).additionals[0];
  assert.deepEqual([plain?.type, plain?.class, plain?.ttl], [TYPE.OPT, 1232, 0]);
  assert.equal(ask(server, query("www.example.com", TYPE.A, { edns: 4096, dnssecOk: true })).additionals[0]?.ttl, 0x8000);
  const future = ask(server, query("www.example.com", TYPE.A, { edns: 4096, version: 1 }));
  assert.equal(rcodeOf(future), RCODE.BADVERS);
  assert.equal(future.answers.length, 0);
});

const optionsOf = (message: Message): string =>
  Buffer.from(message.additionals.find((record) => record.type === TYPE.OPT)?.rdata ?? []).toString("hex");

const CLIENT_COOKIE = "000a00082464c4abcf10c957";
/** RFC 9018 §A.1: what the server there answers that client at that time. */
const SERVER_COOKIE = "000a00182464c4abcf10c957010000005cf79f111f8130c3eee29480";

test("RFC 7873: every response to a query with a cookie has a cookie", () => {
  const server = setup();
  const questions = (options: string): Buffer[] => [
    query("www.example.com", TYPE.A, { edns: 1232, options }),
    query("www.example.com", TYPE.A, { edns: 1232, options }),
    query("none.example.com", TYPE.A, { edns: 1232, options }),
    query("big.example.com", 16, { edns: 1232, options }),
    query("www.example.com", TYPE.A, { edns: 1232, version: 1, options }),
    query("www.example.com", TYPE.A, { edns: 1232, flags: 5 << 11, options }),
  ];
  for (const transport of ["udp", "tcp"] as const) {
    for (const options of [CLIENT_COOKIE, SERVER_COOKIE]) {
      for (const bytes of questions(options)) assert.equal(optionsOf(ask(server, bytes, clientAt(transport))), SERVER_COOKIE);
    }
  }
  // Behind the extended error, which is everybody's.
  const refused = query("example.org", TYPE.A, { edns: 1232, options: CLIENT_COOKIE });
  assert.equal(optionsOf(ask(server, refused)), `000f00020014${SERVER_COOKIE}`);
  // Cookies of two clients differ.
  assert.equal(optionsOf(ask(server, query("www.example.com", TYPE.A, { edns: 1232 }))), "");
});

test("RFC 7873 §5.4: a cookie can be requested without a question", () => {
  const server = setup();
  const withoutQuestion = (options: string, flags = 0): Buffer => {
    const opt = { name: Buffer.of(0), type: TYPE.OPT, class: 1232, ttl: 0, rdata: Buffer.from(options, "hex") };
    return encodeMessage({ id: 5, flags, questions: [], answers: [], authorities: [], additionals: [opt] }) as Buffer;
  };
  const found = ask(server, withoutQuestion(CLIENT_COOKIE));
  assert.deepEqual([rcodeOf(found), found.questions, found.answers, optionsOf(found)], [RCODE.NOERROR, [], [], SERVER_COOKIE]);
  assert.equal(rcodeOf(ask(server, withoutQuestion(SERVER_COOKIE))), RCODE.NOERROR);
  const foreign = ask(server, withoutQuestion(`000a00182464c4abcf10c957010000005cf79f11${"00".repeat(8)}`));
  assert.deepEqual([rcodeOf(foreign), optionsOf(foreign)], [RCODE.BADCOOKIE, SERVER_COOKIE]);
  assert.equal(rcodeOf(ask(server, withoutQuestion(""))), RCODE.FORMERR);
  assert.equal(rcodeOf(ask(server, withoutQuestion(CLIENT_COOKIE, 2 << 11))), RCODE.NOTIMP);
  assert.equal(server.count("selvedge_dns_responses_total", { rcode: "BADCOOKIE" }), 1);
});

test("RFC 7873 §5.2.2: a cookie of invalid length gets FORMERR, with OPT but without a cookie", () => {
  const server = setup();
  for (const bytes of [0, 1, 7, 9, 15, 41, 60]) {
    const options = `000a00${bytes.toString(16).padStart(2, "0")}${"ab".repeat(bytes)}`;
    const found = ask(server, query("www.example.com", TYPE.A, { edns: 1232, options }));
    assert.deepEqual([rcodeOf(found), found.additionals.length, optionsOf(found)], [RCODE.FORMERR, 1, ""], `${bytes} bytes`);
  }
});

test("the space for a cookie counts against the size limit of the answer", () => {
  // As many addresses as fit into 512 bytes without a cookie.
  const records = Array.from({ length: 28 }, (_, i) => recordOp(Z, "many.example.com", "A", `192.0.2.${i}`));
  const server = setup([...BASE, ...records]);
  const size = (options: string): number[] => {
    const found = server.respond(query("many.example.com", TYPE.A, { edns: 512, options }), UDP) as Buffer;
    const { flags, answers } = decodeMessage(found);
    assert.ok(found.length <= 512);
    return [flags & FLAG.TC, answers.length];
  };
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(size(""), [0, 28]);
    assert.deepEqual(size(CLIENT_COOKIE), [FLAG.TC, 0]);
  }
});

test("RFC 5001: a client that requests the server's name gets it, if the server has one", () => {
  const bytes = query("www.example.com", TYPE.A, { edns: 1232, options: "00030000" });
  const named = setup(BASE, 100, "ns-fra-1");
  for (let i = 0; i < 2; i++) assert.equal(optionsOf(ask(named, bytes)), `00030008${Buffer.from("ns-fra-1").toString("hex")}`);
  assert.equal(optionsOf(ask(named, query("www.example.com", TYPE.A, { edns: 1232 }))), "");
  assert.equal(optionsOf(ask(setup(), bytes)), "");
});

test("RFC 7828: a client on TCP or TLS learns its idle timeout", () => {
  const server = setup();
  const bytes = query("www.example.com", TYPE.A, { edns: 1232, options: "000b0000" });
  for (const transport of ["tcp", "dot"] as const) assert.equal(optionsOf(ask(server, bytes, clientAt(transport))), "000b00020064");
  for (const transport of ["udp", "doh"] as const) assert.equal(optionsOf(ask(server, bytes, clientAt(transport))), "");
});

test("RFC 8467: encrypted responses to padded queries are padded to a multiple of 468 bytes", () => {
  const server = setup();
  const padded = "000c0004deadbeef";
  for (const name of ["www.example.com", "none.example.com", "medium.example.com", "big.example.com", "example.org"]) {
    for (const options of [padded, padded + CLIENT_COOKIE]) {
      const bytes = query(name, 16, { edns: 1232, options });
      for (const transport of ["dot", "doh"] as const) {
        const response = server.respond(bytes, clientAt(transport)) as Buffer;
        assert.equal(response.length % 468, 0, `${name} over ${transport}: ${response.length}`);
        assert.match(optionsOf(decodeMessage(response)), /000c[0-9a-f]{4}0*$/);
      }
      // Without encryption, or without padding in the query, the answer has none.
      assert.doesNotMatch(optionsOf(ask(server, bytes, clientAt("tcp"))), /000c/);
      assert.doesNotMatch(optionsOf(ask(server, query(name, 16, { edns: 1232 }), clientAt("dot"))), /000c/);
    }
  }
});

test("metrics count responses by their extended RCODE", () => {
  const server = setup();
  ask(server, query("www.example.com", TYPE.A, { edns: 1232, version: 1 }));
  ask(server, query("www.example.com", TYPE.A));
  assert.equal(server.count("selvedge_dns_responses_total", { rcode: "BADVERS" }), 1);
  assert.equal(server.count("selvedge_dns_responses_total", { rcode: "NOERROR" }), 1);
});

/** How many of so many questions of one network are answered in a moment, and how many of those only with TC. */
function limited(perSecond: number, slip: number, asked: readonly Buffer[], transport: Client["transport"] = "udp", allPerSecond = 0) {
  const limit = createRateLimit({ perSecond, allPerSecond, slip, exempt: [], table: createRateTable() });
  const server = setup([...BASE, recordOp(Z, "a.wild.example.com", "A", "192.0.2.5")], 100, "", limit);
  const responses = asked.map((bytes) => server.respond(bytes, clientAt(transport)) as Buffer | undefined);
  const messages = responses.filter((response) => response !== undefined).map(decodeMessage);
  const truncated = messages.filter((message) => (message.flags & FLAG.TC) !== 0);
  return { server, messages, answered: messages.length - truncated.length, truncated };
}

test("responses of one kind to one network share a limit, and other kinds have their own", () => {
  const many = (name: (i: number) => string, type: number): Buffer[] => Array.from({ length: 40 }, (_, i) => query(name(i), type));
  const rows: [sort: string, questions: Buffer[]][] = [
    ["one name", many(() => "www.example.com", TYPE.A)],
    ["ANY", many(() => "www.example.com", TYPE.ANY)],
    ["names that a wildcard makes", many((i) => `n${i}.wild.example.com`, TYPE.A)],
    ["names that do not exist", many((i) => `n${i}.example.com`, TYPE.A)],
    ["types that names do not have", many((i) => (i % 2 === 0 ? "www.example.com" : "big.example.com"), TYPE.MX)],
    ["names behind a delegation", many((i) => `n${i}.child.example.com`, TYPE.A)],
    ["names of other zones", many((i) => `n${i}.example.org`, TYPE.A)],
    ["transfers", many(() => "example.com", 252)],
    [
      "opcodes that are not served",
      many(() => "example.com", TYPE.A).map((bytes) => Buffer.concat([bytes.subarray(0, 2), Buffer.of(0x28), bytes.subarray(3)])),
    ],
    ["no DNS", Array.from({ length: 40 }, () => Buffer.alloc(12))],
  ];
  for (const [sort, questions] of rows) {
    const { server, answered, truncated } = limited(10, 0, questions);
    assert.deepEqual([answered, truncated.length], [10, 0], sort);
    assert.equal(server.count("selvedge_dns_rate_limited_total", { action: "dropped" }), 30, sort);
    // Connections cannot come from a forged address.
    for (const transport of ["tcp", "dot", "doh"] as const) assert.equal(limited(10, 0, questions, transport).messages.length, 40, sort);
  }
  const mixed = rows.slice(0, 7).flatMap(([, questions]) => questions.slice(0, 10));
  // The first two are the same: it is the name that counts, not its type.
  assert.equal(limited(10, 0, mixed).answered, 60);
});

test("different names share the limit of all responses, in units of 512 bytes", () => {
  const names = ["www", "a.wild", "b.wild", "nothing", "more", "big", "other.child", "big", "www", "big", "www"];
  const asked = names.map((name) => query(`${name}.example.com`, TYPE.A));
  assert.equal(limited(100, 0, asked, "udp", 5).answered, 5);
  assert.equal(limited(100, 0, asked, "tcp", 5).messages.length, names.length);
  // Some 800 bytes each: two units.
  const medium = Array.from({ length: 10 }, () => query("medium.example.com", 16, { edns: 1232 }));
  assert.equal(limited(100, 0, medium, "udp", 6).answered, 3);
});

test("over the limit a client gets a truncated response no larger than its query, with its cookie", () => {
  const asked = Array.from({ length: 30 }, () => query("big.example.com", 16, { edns: 4096, dnssecOk: true, options: CLIENT_COOKIE }));
  const { server, answered, truncated } = limited(10, 1, asked);
  assert.deepEqual([answered, truncated.length], [0, 30]);
  assert.equal(server.count("selvedge_dns_rate_limited_total", { action: "truncated" }), 20);
  const [last] = truncated.slice(-1) as [Message];
  assert.equal(last.flags, FLAG.QR | FLAG.TC | FLAG.RD);
  assert.deepEqual([formatName((last.questions[0] as { name: Buffer }).name), last.answers, last.authorities], ["big.example.com", [], []]);
  assert.equal(optionsOf(last), SERVER_COOKIE);
  assert.equal(last.additionals[0]?.ttl, 0x8000);
  const bare = limited(
    10,
    1,
    Array.from({ length: 30 }, () => query("www.example.com", TYPE.A)),
  );
  for (const message of bare.truncated) assert.equal((encodeMessage(message) as Buffer).length, query("www.example.com", TYPE.A).length);
  // Errors are short already, and TCP would change nothing about them.
  const errors = limited(
    10,
    1,
    Array.from({ length: 30 }, () => query("example.org", TYPE.A)),
  );
  assert.deepEqual([errors.answered, errors.truncated.length], [30, 0]);
});

test("a client with a valid server cookie is not limited", () => {
  const known = Array.from({ length: 30 }, () => query("www.example.com", TYPE.A, { edns: 1232, options: SERVER_COOKIE }));
  assert.equal(limited(1, 0, known).answered, 30);
  const guessed = SERVER_COOKIE.replace(/.$/, "1");
  const unknown = Array.from({ length: 30 }, () => query("www.example.com", TYPE.A, { edns: 1232, options: guessed }));
  assert.equal(limited(1, 0, unknown).answered, 1);
});

test("messages that violate RFC 1035 or 6891 get FORMERR, and are counted", () => {
  const server = setup();
  const good = query("www.example.com", TYPE.A, { edns: 1232 });
  const patched = (change: (bytes: Buffer) => void): Buffer => {
    const copy = Buffer.from(good);
    change(copy);
    return copy;
  };
  const twoOpts = Buffer.concat([good, good.subarray(-11)]);
  twoOpts.writeUInt16BE(2, 10);
  const rows: [name: string, bytes: Buffer][] = [
    ["no question", patched((bytes) => bytes.writeUInt16BE(0, 4))],
    ["two questions", patched((bytes) => bytes.writeUInt16BE(2, 4))],
    ["an answer", patched((bytes) => bytes.writeUInt16BE(1, 6))],
    ["more records than there are", patched((bytes) => bytes.writeUInt16BE(9, 10))],
    ["bytes behind the end", Buffer.concat([good, Buffer.of(0)])],
    ["cut", good.subarray(0, 20)],
    ["header alone", good.subarray(0, 12)],
    ["a pointer as the question", patched((bytes) => bytes.writeUInt16BE(0xc00c, 12))],
    ["a label of 64 bytes", patched((bytes) => bytes.writeUInt8(64, 12))],
    ["two OPT records", twoOpts],
    ["an option that runs past the record", Buffer.concat([good.subarray(0, -2), Buffer.of(0, 4, 0, 3, 0, 9)])],
    ["OPT with an owner", Buffer.concat([good.subarray(0, -11), Buffer.of(0xc0, 12), good.subarray(-10)])],
  ];
  for (const [name, bytes] of rows) assert.equal(rcodeOf(ask(server, bytes)), RCODE.FORMERR, name);
  assert.equal(server.count("selvedge_dns_malformed_total"), rows.length);
});

test("the nameserver ignores unknown EDNS options", () => {
  const good = query("www.example.com", TYPE.A, { edns: 1232 });
  const withOption = Buffer.concat([good.subarray(0, -2), Buffer.of(0, 8, 0xff, 0x11, 0, 4, 1, 2, 3, 4)]);
  assert.equal(ask(setup(), withOption).answers.length, 1);
});

test("messages that are too short, and responses, get no response", () => {
  const server = setup();
  assert.equal(server.respond(Buffer.alloc(0), UDP), undefined);
  assert.equal(server.respond(Buffer.alloc(11), UDP), undefined);
  assert.equal(server.respond(query("www.example.com", TYPE.A, { flags: FLAG.QR }), UDP), undefined);
  assert.equal(server.count("selvedge_dns_dropped_total"), 3);
});

test("UDP answers stay within 512 bytes, the client's size and 1232, or set TC, and TCP answers are complete", () => {
  const server = setup();
  // Twice, so that what the cache holds is measured as well.
  for (let round = 0; round < 2; round++) {
    const size = (name: string, options: QueryOptions, transport: "udp" | "tcp" = "udp"): [length: number, truncated: boolean] => {
      const bytes = server.respond(query(name, 16, options), clientAt(transport)) as Buffer;
      const message = decodeMessage(bytes);
      const truncated = (message.flags & FLAG.TC) !== 0;
      assert.equal(message.answers.length, truncated ? 0 : 1);
      return [bytes.length, truncated];
    };
    assert.deepEqual(size("medium.example.com", {})[1], true);
    assert.deepEqual(size("medium.example.com", { edns: 600 })[1], true);
    assert.deepEqual(size("medium.example.com", { edns: 0 })[1], true);
    assert.deepEqual(size("medium.example.com", { edns: 1232 })[1], false);
    assert.deepEqual(size("big.example.com", { edns: 65_535 })[1], true);
    const [length, truncated] = size("big.example.com", { edns: 1232 }, "tcp");
    assert.ok(length > 1500 && !truncated);
  }
});

test("the nameserver drops the additional section before it truncates an answer", () => {
  const many = Array.from({ length: 40 }, (_, i) => recordOp(Z, "mail.example.com", "A", `192.0.2.${i}`));
  const server = setup([...BASE, recordOp(Z, "example.com", "MX", "1 mail.example.com"), ...many]);
  const small = ask(server, query("example.com", TYPE.MX));
  assert.deepEqual([small.flags & FLAG.TC, small.answers.length, small.additionals.length], [0, 1, 0]);
  const large = ask(server, query("example.com", TYPE.MX, { edns: 1232 }));
  assert.deepEqual([large.answers.length, large.additionals.length], [1, 41]);
});

test("the next answer has an applied change, also if the old answer was cached", () => {
  const server = setup();
  const address = (name: string): string[] =>
    ask(server, query(name, TYPE.A))
      .answers.filter((record) => record.type === TYPE.A)
      .map((record) => record.rdata.join("."));
  for (const name of ["www.example.com", "alias.example.com"]) for (let i = 0; i < 2; i++) assert.deepEqual(address(name), ["192.0.2.1"]);
  assert.equal(rcodeOf(ask(server, query("new.example.com", TYPE.A))), RCODE.NXDOMAIN);
  server.replica.apply([
    { ...recordOp(Z, "www.example.com", "A", "192.0.2.1"), value: null } as Op,
    recordOp(Z, "www.example.com", "A", "192.0.2.77"),
    recordOp(Z, "new.example.com", "A", "192.0.2.78"),
    serialOp(Z, 8),
  ]);
  for (const name of ["www.example.com", "alias.example.com"]) assert.deepEqual(address(name), ["192.0.2.77"]);
  assert.deepEqual(address("new.example.com"), ["192.0.2.78"]);
  // A zone that appears takes its names from the one above it.
  server.replica.apply([zoneOp("zone2", "www.example.com")]);
  assert.deepEqual(address("www.example.com"), []);
});

test("an alias into another zone follows that zone's changes", () => {
  const server = setup([
    ...BASE,
    zoneOp("zone2", "example.net"),
    recordOp("zone2", "t.example.net", "A", "192.0.2.9"),
    recordOp(Z, "out.example.com", "CNAME", "t.example.net"),
  ]);
  const count = (): number => ask(server, query("out.example.com", TYPE.A)).answers.length;
  assert.equal(count(), 2);
  server.replica.apply([{ ...recordOp("zone2", "t.example.net", "A", "192.0.2.9"), value: null } as Op]);
  assert.equal(count(), 1);
});

test("a flood of names that do not exist, or that a wildcard or DNAME creates, does not evict other answers from the cache", () => {
  const server = setup([...BASE, recordOp(Z, "tree.example.com", "DNAME", "wild.example.com")]);
  const hits = (): number => server.count("selvedge_dns_cache_hits_total");
  for (const name of ["www.example.com", "alias.example.com"]) ask(server, query(name, TYPE.A));
  for (let i = 0; i < 300; i++) {
    for (const name of [`n${i}.example.com`, `n${i}.wild.example.com`, `n${i}.child.example.com`, `n${i}.tree.example.com`])
      ask(server, query(name, TYPE.A));
    ask(server, query(`m${i}.wild.example.com`, TYPE.MX));
  }
  assert.equal(hits(), 0);
  for (const name of ["www.example.com", "alias.example.com"]) ask(server, query(name, TYPE.A));
  assert.equal(hits(), 2);
  // The last of the flood are there as well.
  ask(server, query("n299.example.com", TYPE.A));
  assert.equal(hits(), 3);
});

test("the answer cache stays within its limit", () => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const cache = createAnswerCache({ entriesMax: 10, clock });
  const zones = new Set(["z"]);
  const response = (bytes: number): CachedResponse => ({
    bytes: Buffer.alloc(bytes),
    rcode: 0,
    optStart: 0,
    sort: 0,
    isEndless: false,
    zones,
    ...ALWAYS_FRESH,
  });
  for (let i = 0; i < 100; i++) cache.put(`k${i}`, response(20));
  assert.equal(cache.entryCount, 10);
  cache.put("large", response(2000));
  assert.equal(cache.get("large"), undefined);
  cache.dropZones(zones);
  assert.equal(cache.entryCount, 0);
  // Signatures run out, and are good for nothing on a clock from before they were made.
  cache.put("signed", { ...response(20), fromMs: clock.nowMs() - 1000, untilMs: clock.nowMs() + 1000 });
  assert.ok(cache.get("signed"));
  clock.advance(1000);
  assert.equal(cache.get("signed"), undefined);
  cache.put("signed", { ...response(20), fromMs: clock.nowMs() + 1, untilMs: clock.nowMs() + 1000 });
  assert.equal(cache.get("signed"), undefined);
  assert.equal(cache.entryCount, 0);
});

test("dns-packet decodes the answers", () => {
  const server = setup();
  const response = packet.decode(
    server.respond(packet.encode({ type: "query", id: 9, questions: [{ type: "TXT", name: "alias.example.com" }] }), UDP) as Buffer,
  );
  assert.deepEqual(
    response.answers?.map((record) => [record.type, record.name, (record as { data?: unknown }).data]),
    [
      ["CNAME", "alias.example.com", "www.example.com"],
      ["TXT", "www.example.com", [Buffer.from("text")]],
    ],
  );
});

test("property: any bytes get a well-formed answer or silence, never an exception", () => {
  const server = setup([...BASE, dnssecOp(Z, [zoneKey("k")])]);
  const seeds = [
    query("www.example.com", TYPE.A, { edns: 1232, dnssecOk: true }),
    query("no.example.com", TYPE.A, { edns: 1232, dnssecOk: true }),
    query("www.child.example.com", TYPE.NSEC, { edns: 512, dnssecOk: true }),
    query("www.example.com", TYPE.A, { edns: 1232 }),
    query("x.wild.example.com", TYPE.A),
    query("child.example.com", 16),
    query("big.example.com", 16),
    query("example.com", TYPE.ANY),
  ];
  const damaged = fc
    .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 4 }))
    .map(([seed, changes]) => {
      const copy = Buffer.from(seed);
      for (const [at, byte] of changes) if (at < copy.length) copy[at] = byte;
      return copy;
    });
  const random = fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes));
  const labels = fc
    .array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 12 })
    .map((parts) =>
      Buffer.concat([
        Buffer.of(0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
        ...parts.flatMap((part) => [Buffer.of(part.length), Buffer.from(part)]),
        Buffer.from("\u0007example\u0003com\u0000\u0000\u0001\u0000\u0001", "latin1"),
      ]),
    );
  fc.assert(
    fc.property(fc.oneof(damaged, random, labels), fc.constantFrom("udp" as const, "tcp" as const), (bytes, transport) => {
      const response = server.respond(bytes, clientAt(transport));
      if (response === undefined) return;
      assert.ok(response instanceof Buffer);
      const message = decodeMessage(response);
      assert.equal(message.id, bytes.readUInt16BE(0));
      assert.ok(transport === "tcp" || response.length <= 1232);
    }),
    { numRuns: 8000 },
  );
  assert.equal(server.count("selvedge_dns_internal_errors_total"), 0);
});
