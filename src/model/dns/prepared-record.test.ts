import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DnsRecordWrite } from "./dns-record.ts";
import { isProxiable, prepareRecord, type RecordPolicy } from "./prepared-record.ts";

const FREE = { name: "example.com", plan: "free" };
const PRO = { name: "example.com", plan: "pro" };
const ENTERPRISE = { name: "example.com", plan: "enterprise" };
const SPEC = { names: "letter_first", txtContent: "quoted" } as const;
const OPEN: RecordPolicy = { ...SPEC, localOriginAllowed: () => true, edgeAddresses: new Set(["198.51.100.1", "127.0.0.1"]) };
const STRICT: RecordPolicy = { ...SPEC, localOriginAllowed: () => false, edgeAddresses: new Set() };

function codeOf(write: DnsRecordWrite, zone = FREE, origins = OPEN): number {
  try {
    prepareRecord(write, zone, origins);
    return 0;
  } catch (error) {
    assert.ok(error instanceof PlatformError, String(error));
    return error.code;
  }
}

const A: DnsRecordWrite = { type: "A", name: "www", content: "192.0.2.1" };

test("defaults are automatic TTL, not proxied, no comment and no tags", () => {
  assert.deepEqual(prepareRecord(A, FREE, OPEN), {
    name: "www.example.com",
    type: "A",
    content: "192.0.2.1",
    content_key: "192.0.2.1",
    data: null,
    priority: null,
    ttl: 1,
    proxied: 0,
    settings: "{}",
    comment: null,
    tags: "[]",
    rdata: Buffer.from([192, 0, 2, 1]).toString("base64"),
  });
});

test("checks run in the order type, name, TTL, content, size, tags and comment", () => {
  const write: DnsRecordWrite = { type: "NOPE", name: "-", ttl: 5, content: "x", tags: ["a"], comment: "a\nb" };
  const fixes: readonly (readonly [code: number, fix: DnsRecordWrite])[] = [
    [9020, { type: "AAAA" }],
    [9000, { name: "www" }],
    [9021, { ttl: 60 }],
    [9006, { type: "TXT", content: "y".repeat(5000) }],
    [9015, { content: "y" }],
    [9300, { tags: [] }],
    [9302, { comment: "fine" }],
  ];
  for (const [code, fix] of fixes) {
    assert.equal(codeOf(write), code);
    Object.assign(write, fix);
  }
  assert.equal(codeOf(write), 0);
});

test("SPEC 2.3: the SOA record cannot be written, and types are case-insensitive", () => {
  assert.equal(codeOf({ type: "SOA", name: "@", content: "a. b. 1 2 3 4 5" }), 9020);
  assert.equal(codeOf({ name: "www", content: "192.0.2.1" }), 9020);
  assert.equal(codeOf({ ...A, type: "toString" }), 9020);
  assert.equal(prepareRecord({ ...A, type: "a" }, FREE, OPEN).type, "A");
});

test("records made by signing cannot be written, and unknown types are written by number", () => {
  assert.equal(codeOf({ type: "CDS", name: "@", content: "0 0 0 00" }), 9020);
  assert.equal(codeOf({ type: "TYPE60", name: "@", content: "0 3 0 AA==" }), 9020);
  for (const type of ["TYPE255", "TYPE41", "TYPE46", "TYPE47", "TYPE65536", "ANY", "RRSIG"]) assert.equal(codeOf({ ...A, type }), 9020);
  assert.deepEqual(prepareRecord({ ...A, type: "TYPE1" }, FREE, OPEN), prepareRecord(A, FREE, OPEN));
  const unknown = prepareRecord({ type: "type65280", name: "x", content: "\\# 2 AB cd" }, FREE, OPEN);
  assert.deepEqual([unknown.type, unknown.content, unknown.rdata, unknown.data], ["TYPE65280", "\\# 2 abcd", "q80=", null]);
  assert.equal(codeOf({ type: "TYPE65280", name: "x", content: "text" }), 9007);
});

test("SPEC 8.9: TTL is 1 or within the plan's range, and proxied records have the automatic one", () => {
  for (const ttl of [1, 60, 86_400]) assert.equal(prepareRecord({ ...A, ttl }, FREE, OPEN).ttl, ttl);
  for (const ttl of [0, -1, 2, 59, 86_401, 30]) assert.equal(codeOf({ ...A, ttl }), 9021);
  assert.equal(prepareRecord({ ...A, ttl: 30 }, ENTERPRISE, OPEN).ttl, 30);
  assert.equal(prepareRecord({ ...A, ttl: 600, proxied: true }, FREE, OPEN).ttl, 1);
});

test("SPEC 1.2: only A, AAAA and CNAME can be proxied, and only to addresses that may be origins", () => {
  assert.equal(codeOf({ type: "TXT", name: "www", content: "a", proxied: true }), 9041);
  assert.equal(codeOf({ type: "MX", name: "www", content: "mail", priority: 1, proxied: true }), 9041);
  assert.equal(codeOf({ ...A, content: "127.0.0.1", proxied: true }), 0);
  assert.equal(codeOf({ ...A, content: "127.0.0.1", proxied: true }, FREE, STRICT), 9041);
  assert.equal(codeOf({ ...A, content: "127.0.0.1" }, FREE, STRICT), 0);
  assert.equal(codeOf({ ...A, content: "224.0.0.1", proxied: true }), 9041);
  assert.equal(codeOf({ ...A, content: "198.51.100.1", proxied: true }), 9042);
  assert.equal(codeOf({ ...A, type: "AAAA", content: "::ffff:198.51.100.1", proxied: true }), 9042, "the same address by another name");
  assert.equal(codeOf({ ...A, content: "198.51.100.1" }), 0);
  assert.deepEqual(
    [
      isProxiable("A", "192.0.2.1", STRICT),
      isProxiable("A", "10.0.0.1", STRICT),
      isProxiable("CNAME", "x.example", STRICT),
      isProxiable("SRV", "1 2 x", OPEN),
    ],
    [true, false, true, false],
  );
});

test("errors about a priority name the field that has it", () => {
  const pointer = (write: DnsRecordWrite): string | undefined => {
    try {
      prepareRecord({ name: "_x._tcp", ...write }, FREE, OPEN);
    } catch (error) {
      return (error as PlatformError).source;
    }
    return undefined;
  };
  const srv = { weight: 1, port: 1, target: "x.example" };
  assert.equal(pointer({ type: "MX", content: "mail.example.net" }), "/priority");
  assert.equal(pointer({ type: "MX", content: "mail.example.net", priority: -1 }), "/priority");
  assert.equal(pointer({ type: "MX", content: "ten mail.example.net" }), "/content");
  assert.equal(pointer({ type: "URI", data: { weight: 1, target: "https://x.example/" } }), "/priority");
  assert.equal(pointer({ type: "SRV", content: "1 2 s.example.net" }), "/priority");
  assert.equal(pointer({ type: "SRV", data: { ...srv, priority: 70_000 } }), "/data/priority");
  assert.equal(pointer({ type: "SRV", data: srv }), "/data/priority");
  assert.equal(pointer({ type: "SRV", data: srv, priority: 70_000 }), "/priority");
  assert.equal(pointer({ type: "HTTPS", data: { priority: -1, target: "." } }), "/data/priority");
  assert.equal(pointer({ type: "DS", data: { key_tag: 1, algorithm: 13, digest_type: 2, digest: "ab" } }), "/data/digest");
});

test("SPEC 2.2: SRV accepts data and shows its summary, priority and data", () => {
  const srv = prepareRecord(
    { type: "SRV", name: "_sip._tcp", data: { priority: 10, weight: 5, port: 5060, target: "sip.example.com" } },
    FREE,
    OPEN,
  );
  assert.deepEqual(
    [srv.name, srv.priority, JSON.parse(srv.data ?? "")],
    ["_sip._tcp.example.com", 10, { priority: 10, weight: 5, port: 5060, target: "sip.example.com" }],
  );
  assert.match(srv.content, /5060 sip\.example\.com$/);
  assert.throws(
    () => prepareRecord({ type: "SRV", name: "_sip._tcp", data: { priority: 10, weight: 5, port: 70_000, target: "a" } }, FREE, OPEN),
    (error) => error instanceof PlatformError && error.code === 9007 && error.source === "/data/port",
  );
});

test("`data: null` and a trailing dot are accepted, because clients send them", () => {
  assert.equal(prepareRecord({ type: "CNAME", name: "a", content: "b.example.org.", data: null }, FREE, OPEN).content, "b.example.org");
  assert.equal(codeOf({ type: "CNAME", name: "a", content: "A.example.com." }), 9007);
});

test("comments and tags have the limits of the plan", () => {
  assert.equal(codeOf({ ...A, comment: "c".repeat(100) }), 0);
  assert.equal(codeOf({ ...A, comment: "c".repeat(101) }), 9302);
  assert.equal(codeOf({ ...A, comment: "c".repeat(500) }, PRO), 0);
  assert.equal(prepareRecord({ ...A, comment: "" }, FREE, OPEN).comment, null);
  assert.equal(prepareRecord({ ...A, tags: ["a:1", "b", "b"] }, PRO, OPEN).tags, '["a:1","b"]');
  for (const tag of ["", ":x", "a b", `${"n".repeat(33)}:v`, `n:${"v".repeat(101)}`])
    assert.equal(codeOf({ ...A, tags: [tag] }, PRO), 9301);
  assert.equal(codeOf({ ...A, tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, PRO), 9300);
});

test("property: any write is refused with a code below 100000 or prepares again to the same record", () => {
  const type = fc.constantFrom("A", "AAAA", "CNAME", "TXT", "MX", "NS", "SRV", "CAA", "PTR", "HTTPS", "TLSA");
  const content = fc.oneof(
    fc.string(),
    fc.ipV4(),
    fc.ipV6(),
    fc.domain(),
    fc.string({ unit: fc.constantFrom("a", '"', "\\", " ", "0", ".") }),
  );
  fc.assert(
    fc.property(type, content, fc.option(fc.integer({ min: -1, max: 70_000 }), { nil: null }), (recordType, text, priority) => {
      const write: DnsRecordWrite = { type: recordType, name: "x", content: text, priority };
      if (codeOf(write) !== 0) return;
      const once = prepareRecord(write, FREE, OPEN);
      const again = prepareRecord(
        {
          ...write,
          content: once.content,
          priority: once.priority,
          data: once.data === null ? null : (JSON.parse(once.data) as Record<string, unknown>),
        },
        FREE,
        OPEN,
      );
      assert.deepEqual(again, once);
    }),
  );
});

test("unchanged fields are not checked again, and all others are", () => {
  const known = {
    name: String.raw`3\032x.example.com`,
    type: "A",
    content: "127.0.0.9",
    priority: null,
    data: null,
    rdata: Buffer.from([127, 0, 0, 9]).toString("base64"),
    ttl: 604_800,
    proxied: 1,
    comment: "c".repeat(400),
    tags: '["a","b"]',
  };
  const { rdata: _, tags, ...same } = known;
  const write: DnsRecordWrite = { ...same, proxied: true, data: null, tags: JSON.parse(tags) as string[] };
  const kept = prepareRecord({ ...write, proxied: true }, FREE, STRICT, known);
  assert.deepEqual([kept.name, kept.content, kept.comment, kept.tags], [known.name, known.content, known.comment, known.tags]);
  assert.equal(prepareRecord({ ...write, proxied: false }, FREE, STRICT, known).ttl, 604_800);
  const changes: readonly (readonly [DnsRecordWrite, number])[] = [
    [{ name: "4x" }, 9000],
    [{ ttl: 604_801 }, 9021],
    [{ content: "127.0.0.10" }, 9041],
    [{ tags: ["a"] }, 9300],
    [{ comment: "d".repeat(400) }, 9302],
  ];
  for (const [change, code] of changes)
    assert.throws(
      () => prepareRecord({ ...write, ...change }, FREE, STRICT, known),
      (error) => error instanceof PlatformError && error.code === code,
    );
});

test("TXT as sent is shown as written, stored as the same strings, and is the same record for conflicts and filters", () => {
  const asSent: RecordPolicy = { ...OPEN, txtContent: "as_sent" };
  for (const content of ["abc", "v=DKIM1; k=rsa; p=AAAA", "x".repeat(600), String.raw`a\"b`, "UPPER and lower"]) {
    const bare = prepareRecord({ type: "TXT", name: "t", content }, FREE, asSent);
    const quoted = prepareRecord({ type: "TXT", name: "t", content: `"${content}"` }, FREE, asSent);
    assert.deepEqual([bare.content, quoted.content], [content, `"${content}"`]);
    assert.deepEqual([bare.rdata, bare.content_key], [quoted.rdata, quoted.content_key]);
    assert.equal(prepareRecord({ type: "TXT", name: "t", content }, FREE, OPEN).content, `"${content}"`);
  }
});

test("targets of SVCB and HTTPS keep their trailing dot, and the record is the same without it", () => {
  for (const type of ["SVCB", "HTTPS"])
    for (const params of ["", 'alpn="h3,h2" port="8443"']) {
      const write = (target: string): DnsRecordWrite => ({ type, name: "svc", data: { priority: 1, target, value: params } });
      const text = (target: string): DnsRecordWrite => ({ type, name: "svc", content: `1 ${target} ${params}`.trim() });
      const plain = prepareRecord(write("svc.example.net"), FREE, OPEN);
      for (const dotted of [write("svc.example.net."), text("svc.example.net.")]) {
        const record = prepareRecord(dotted, FREE, OPEN);
        assert.equal(record.content, `1 svc.example.net. ${params}`.trim());
        assert.equal((JSON.parse(record.data ?? "") as { target: string }).target, "svc.example.net.");
        assert.equal(record.rdata, plain.rdata);
        assert.deepEqual(prepareRecord({ type, name: "svc", content: record.content }, FREE, OPEN), record);
      }
      assert.equal(prepareRecord(text("svc.example.net"), FREE, OPEN).content, plain.content);
      assert.ok(prepareRecord(write("."), FREE, OPEN).content.startsWith("1 ."));
      assert.equal(prepareRecord(write("."), FREE, OPEN).content, prepareRecord(text("."), FREE, OPEN).content);
    }
});

test("the replacement of NAPTR keeps its trailing dot, and the record is the same without it", () => {
  const fields = { order: 20, preference: 100, flags: "U", service: "E2U+sip", regex: "!^.* x$!sip:a b@example.net!" };
  const write = (replacement: string): DnsRecordWrite => ({ type: "NAPTR", name: "n", data: { ...fields, replacement } });
  const text = (replacement: string): DnsRecordWrite => ({
    type: "NAPTR",
    name: "n",
    content: `20 100 "U" "E2U+sip" "${fields.regex}" ${replacement}`,
  });
  const plain = prepareRecord(write("_sip._udp.example.net"), FREE, OPEN);
  for (const dotted of [write("_sip._udp.example.net."), text("_sip._udp.example.net.")]) {
    const record = prepareRecord(dotted, FREE, OPEN);
    assert.equal(record.content, `${plain.content}.`);
    assert.equal((JSON.parse(record.data ?? "") as { replacement: string }).replacement, "_sip._udp.example.net.");
    assert.equal(record.rdata, plain.rdata);
    assert.equal(record.content_key, plain.content_key);
  }
  assert.equal(prepareRecord(text("_sip._udp.example.net"), FREE, OPEN).content, plain.content);
  assert.ok(prepareRecord(write("."), FREE, OPEN).content.endsWith(" ."));
});

test("hexadecimal digits keep the case that they were sent in, and the record is the same", () => {
  const digits = "ABCDEF".repeat(10) + "0123";
  for (const [type, member, numbers] of [
    ["DS", "digest", { key_tag: 1, algorithm: 13, digest_type: 2 }],
    ["SSHFP", "fingerprint", { algorithm: 4, type: 2 }],
    ["TLSA", "certificate", { usage: 3, selector: 1, matching_type: 1 }],
    ["SMIMEA", "certificate", { usage: 3, selector: 1, matching_type: 1 }],
  ] as const) {
    const write = (text: string): DnsRecordWrite => ({ type, name: "a", data: { ...numbers, [member]: text } });
    const plain = prepareRecord(write(digits.toLowerCase()), FREE, OPEN);
    const record = prepareRecord(write(digits), FREE, OPEN);
    assert.deepEqual(JSON.parse(record.data ?? ""), { ...numbers, [member]: digits });
    assert.equal(record.content, `${Object.values(numbers).join(" ")} ${digits}`);
    assert.deepEqual([record.rdata, record.content_key], [plain.rdata, plain.content_key]);
    assert.deepEqual(prepareRecord({ type, name: "a", content: record.content }, FREE, OPEN), record);
    // In two words, as zone files and tools print long digests.
    const parted = `${Object.values(numbers).join(" ")} ${digits.slice(0, 32)} ${digits.slice(32)}`;
    assert.equal(prepareRecord({ type, name: "a", content: parted }, FREE, OPEN).content, plain.content);
  }
});

test("null means that a value was never set", () => {
  const write: DnsRecordWrite = {
    ...A,
    proxied: null,
    ttl: null,
    tags: null,
    comment: null,
    settings: { ipv4_only: null, ipv6_only: null },
  };
  assert.deepEqual(prepareRecord(write, FREE, OPEN), prepareRecord(A, FREE, OPEN));
});
