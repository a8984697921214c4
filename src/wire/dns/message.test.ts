import assert from "node:assert/strict";
import { test } from "node:test";
import packet from "dns-packet";
import { fc } from "../../../test/support/property.ts";
import { CLASS, EDNS_FLAG, FLAG, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { type Message, MessageWriter, OPT_BYTES, type ResourceRecord, decodeMessage, encodeMessage } from "./message.ts";
import { formatName, parseAbsoluteName } from "./name.ts";
import { readQuery } from "./query.ts";
import { describe, encodeContent, typeCode } from "./record-types.ts";

const record = (name: string, type: string, content: string, ttl = 60): ResourceRecord => ({
  name: parseAbsoluteName(name),
  type: typeCode(type) as number,
  class: CLASS.IN,
  ttl,
  rdata: encodeContent(type, content, { origin: ".", style: "master" }),
});

const message = (change: Partial<Message>): Message => ({
  id: 7,
  flags: FLAG.QR | FLAG.AA,
  questions: [{ name: parseAbsoluteName("www.example.com"), type: TYPE.A, class: CLASS.IN }],
  answers: [],
  authorities: [],
  additionals: [],
  ...change,
});

const plain = (value: Message): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) =>
      part instanceof Uint8Array
        ? Buffer.from(part).toString("hex")
        : part && (part as { type?: string }).type === "Buffer"
          ? Buffer.from((part as { data: number[] }).data).toString("hex")
          : part,
    ),
  );

const SAMPLES: readonly (readonly [type: string, content: string])[] = [
  ["A", "192.0.2.1"],
  ["AAAA", "2001:db8::1"],
  ["CNAME", "target.example.com"],
  ["NS", "ns1.example.com"],
  ["PTR", "host.example.com"],
  ["MX", "10 mail.example.com"],
  ["TXT", '"one" "two words"'],
  ["SRV", "1 2 443 srv.example.com"],
  ["CAA", '0 issue "ca.example"'],
  ["SOA", "ns1.example.com dns.example.com 1 2 3 4 5"],
  ["NAPTR", '1 2 "s" "SIP+D2U" "" _sip._udp.example.com'],
  ["DS", `1 13 2 ${"ab".repeat(32)}`],
  ["SSHFP", `4 2 ${"ab".repeat(32)}`],
  ["TLSA", "3 1 1 abcd"],
  ["DNSKEY", "257 3 13 aGVsbG8="],
];

test("a message encoded with compression decodes to the same message", () => {
  const sample = fc.constantFrom(...SAMPLES).map(([type, content]) => [type, content] as const);
  const owner = fc.constantFrom("example.com", "www.example.com", "a.b.example.com", "other.net", ".", "EXAMPLE.com");
  const records = fc.array(
    fc.tuple(owner, sample, fc.nat(100_000)).map(([name, [type, content], ttl]) => record(name, type, content, ttl)),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(records, records, records, (answers, authorities, additionals) => {
      const original = message({ answers, authorities, additionals });
      const decoded = decodeMessage(encodeMessage(original) as Buffer);
      // Compression may take over the spelling of an earlier name: names are equal without regard to case.
      const folded = (value: Message): string =>
        JSON.stringify(
          [value.answers, value.authorities, value.additionals].map((section) =>
            section.map((item) => [formatName(item.name).toLowerCase(), item.type, item.class, item.ttl, content(item)]),
          ),
        );
      assert.equal(folded(decoded), folded(original));
      assert.equal(decoded.id, original.id);
      assert.equal(decoded.flags, original.flags);
    }),
    { numRuns: 500 },
  );
});

const content = (item: ResourceRecord): string =>
  describe(SAMPLES.find(([type]) => typeCode(type) === item.type)?.[0] ?? "", item.rdata).content.toLowerCase();

test("dns-packet decodes our messages correctly, including compressed names", () => {
  const encoded = encodeMessage(message({ answers: SAMPLES.map(([type, text]) => record("www.example.com", type, text)) })) as Buffer;
  const { answers = [] } = packet.decode(encoded);
  const data = Object.fromEntries(answers.map((answer) => [answer.type, (answer as { data?: unknown }).data]));
  assert.equal(data["A"], "192.0.2.1");
  assert.equal(data["AAAA"], "2001:db8::1");
  assert.equal(data["CNAME"], "target.example.com");
  assert.deepEqual(data["MX"], { preference: 10, exchange: "mail.example.com" });
  assert.deepEqual(data["TXT"], [Buffer.from("one"), Buffer.from("two words")]);
  assert.deepEqual(data["SRV"], { priority: 1, weight: 2, port: 443, target: "srv.example.com" });
  assert.deepEqual(data["SOA"], {
    mname: "ns1.example.com",
    rname: "dns.example.com",
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
    minimum: 5,
  });
  assert.deepEqual(data["CAA"], { flags: 0, tag: "issue", value: "ca.example", issuerCritical: false });
  assert.equal((data["DS"] as { keyTag: number }).keyTag, 1);
  assert.equal((data["NAPTR"] as { replacement: string }).replacement, "_sip._udp.example.com");
  assert.ok(answers.every((answer) => answer.name === "www.example.com"));
});

test("we decode dns-packet's messages correctly", () => {
  const encoded = packet.encode({
    type: "response",
    id: 513,
    flags: packet.AUTHORITATIVE_ANSWER,
    questions: [{ type: "MX", name: "example.com" }],
    answers: [
      { type: "MX", name: "example.com", ttl: 30, data: { preference: 5, exchange: "mx.example.com" } },
      { type: "TXT", name: "example.com", ttl: 30, data: ["a", "b c"] },
      { type: "SRV", name: "_x._tcp.example.com", ttl: 30, data: { priority: 1, weight: 2, port: 3, target: "t.example.com" } },
    ],
  });
  const decoded = decodeMessage(encoded);
  assert.equal(decoded.id, 513);
  assert.equal(decoded.flags, FLAG.QR | FLAG.AA);
  assert.deepEqual(
    decoded.answers.map((answer, i) => describe(["MX", "TXT", "SRV"][i] as string, answer.rdata).content),
    ["mx.example.com", '"a" "b c"', "2 3 t.example.com"],
  );
});

test("only names in the types of RFC 1035 are compressed", () => {
  const size = (type: string, text: string): number =>
    (encodeMessage(message({ answers: [record("www.example.com", type, text)] })) as Buffer).length;
  // Behind the question: a pointer to the owner and 10 bytes; then MX is 2 + a pointer, SRV 6 + the whole name.
  const question = 12 + 17 + 4;
  assert.equal(size("MX", "1 www.example.com"), question + 12 + 2 + 2);
  assert.equal(size("SRV", "1 2 3 www.example.com"), question + 12 + 6 + 17);
});

test("a set that does not fit is removed completely, including the names that it added", () => {
  const writer = new MessageWriter(120, OPT_BYTES);
  writer.question({ name: parseAbsoluteName("example.com"), type: TYPE.NS, class: CLASS.IN });
  const before = writer.length;
  const targets = Array.from({ length: 9 }, (_, i) => parseAbsoluteName(`server-${i}.elsewhere.example`));
  assert.equal(writer.set(parseAbsoluteName("example.com"), TYPE.NS, 60, targets), false);
  assert.equal(writer.length, before);
  // A pointer to a name that was taken back would point at something else now.
  assert.equal(writer.set(parseAbsoluteName("elsewhere.example"), TYPE.A, 60, [Buffer.of(192, 0, 2, 1)]), true);
  writer.opt(1232, 0, EDNS_FLAG.DO, Buffer.alloc(0));
  const decoded = decodeMessage(writer.finish(1, FLAG.QR, [1, 1, 0, 1]));
  assert.deepEqual(
    decoded.answers.map((answer) => formatName(answer.name)),
    ["elsewhere.example"],
  );
  assert.equal(decoded.additionals[0]?.type, TYPE.OPT);
});

test("a message that does not fit is not encoded", () => {
  const big = message({ answers: Array.from({ length: 300 }, () => record("www.example.com", "TXT", "x".repeat(255))) });
  assert.equal(encodeMessage(big), undefined);
});

test("property: random and damaged bytes decode or are refused with a WireError", () => {
  const valid = encodeMessage(message({ answers: SAMPLES.map(([type, text]) => record("a.example.com", type, text)) })) as Buffer;
  const damaged = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 6 }).map((changes) => {
    const copy = Buffer.from(valid);
    for (const [at, byte] of changes) copy[at] = byte;
    return copy;
  });
  const cut = fc.nat(valid.length).map((length) => valid.subarray(0, length));
  const random = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(damaged, cut, random), (bytes) => {
      for (const read of [decodeMessage, readQuery]) {
        try {
          read(bytes);
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
        }
      }
    }),
    { numRuns: 5000 },
  );
});

test("a message survives a second round unchanged", () => {
  const once = decodeMessage(
    encodeMessage(message({ answers: SAMPLES.map(([type, text]) => record("www.example.com", type, text)) })) as Buffer,
  );
  const twice = decodeMessage(encodeMessage(once) as Buffer);
  assert.deepEqual(plain(twice), plain(once));
});
