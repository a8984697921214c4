import assert from "node:assert/strict";
import { test } from "node:test";
import { PlatformError } from "#kernel/errors/errors.ts";
import { checkSiblings } from "./dns-conflicts.ts";
import type { DnsRecordWrite } from "./dns-record.ts";
import { type RecordPolicy, type PreparedRecord, prepareRecord } from "./prepared-record.ts";

const ZONE = { name: "example.com", plan: "free" };
const POLICY: RecordPolicy = { names: "letter_first", txtContent: "quoted", localOriginAllowed: () => true, edgeAddresses: new Set() };
const CONTENT: Readonly<Record<string, string>> = {
  A: "192.0.2.1",
  AAAA: "2001:db8::1",
  CNAME: "target.example.org",
  TXT: "text",
  NS: "ns.example.org",
  MX: "mail.example.org",
  DS: `1 13 2 ${"ab".repeat(32)}`,
  DNAME: "example.org",
};

const record = (type: string, write: DnsRecordWrite = {}): PreparedRecord =>
  prepareRecord({ type, name: "www", content: CONTENT[type] ?? "", priority: 10, ...write }, ZONE, POLICY);

function codeOf(added: PreparedRecord, ...existing: PreparedRecord[]): number {
  try {
    checkSiblings(
      added,
      existing.map((row, index) => ({ id: String(index), ...row })),
      ZONE.name,
    );
    return 0;
  } catch (error) {
    assert.ok(error instanceof PlatformError);
    return error.code;
  }
}

test("a CNAME excludes every other record of its name", () => {
  const rows: readonly (readonly [added: string, existing: string, code: number])[] = [
    ["CNAME", "A", 81053],
    ["CNAME", "AAAA", 81053],
    ["CNAME", "TXT", 81053],
    ["CNAME", "NS", 81056],
    ["A", "CNAME", 81054],
    ["AAAA", "CNAME", 81054],
    ["TXT", "CNAME", 81054],
    ["A", "AAAA", 0],
    ["TXT", "A", 0],
    ["A", "NS", 0],
    ["NS", "AAAA", 0],
    ["TXT", "NS", 81056],
    ["NS", "MX", 81053],
    ["DS", "NS", 0],
    ["NS", "DS", 0],
    ["DNAME", "CNAME", 81054],
    ["CNAME", "DNAME", 81053],
    ["DNAME", "NS", 81056],
    ["NS", "DNAME", 81053],
    ["DNAME", "A", 0],
    ["TXT", "DNAME", 0],
  ];
  for (const [added, existing, code] of rows) assert.equal(codeOf(record(added), record(existing)), code, `${added} beside ${existing}`);
});

test("RFC 6672 §2.4: a name has one DNAME at most", () => {
  assert.equal(codeOf(record("DNAME", { content: "other.example" }), record("DNAME")), 81053);
});

test("a second CNAME conflicts before it is a duplicate", () => {
  assert.equal(codeOf(record("CNAME"), record("CNAME")), 81053);
});

test("at the apex a CNAME may coexist with records other than addresses", () => {
  const apex = (type: string): PreparedRecord => record(type, { name: "@" });
  assert.equal(codeOf(apex("CNAME"), apex("TXT"), apex("MX"), apex("NS")), 0);
  assert.equal(codeOf(apex("MX"), apex("CNAME")), 0);
  assert.equal(codeOf(apex("A"), apex("CNAME")), 81054);
  assert.equal(codeOf(apex("A"), apex("NS")), 0);
});

test("duplicate records are refused, whatever their quotes and the case of names, but text is case-sensitive", () => {
  assert.equal(codeOf(record("A"), record("A")), 81058);
  assert.equal(codeOf(record("A", { content: "192.0.2.2" }), record("A")), 0);
  assert.equal(codeOf(record("TXT", { content: '"te" "xt"' }), record("TXT")), 81058);
  assert.equal(codeOf(record("TXT", { content: "Text" }), record("TXT")), 0);
  assert.equal(codeOf(record("MX", { content: "MAIL.example.org." }), record("MX")), 81058);
  assert.equal(codeOf(record("MX", { priority: 20 }), record("MX")), 0);
});

test("the records of one name and type have a total size limit", () => {
  const long = (letter: string): PreparedRecord => record("TXT", { content: letter.repeat(3900) });
  assert.equal(codeOf(long("a"), long("b")), 0);
  assert.equal(codeOf(long("a"), long("b"), long("c")), 83011);
});

test("glue is allowed at a zone cut unless it is proxied", () => {
  for (const type of ["A", "AAAA"]) {
    assert.equal(codeOf(record(type), record("NS"), record("DS")), 0);
    assert.equal(codeOf(record("NS"), record(type), record("DS")), 0);
    assert.equal(codeOf(record(type, { proxied: true }), record("NS")), 81056);
    assert.equal(codeOf(record("NS"), record(type, { proxied: true })), 81053);
  }
});

test("a proxied CNAME may coexist with records that clients cannot see through it, a visible one with none", () => {
  const hidden = record("CNAME", { proxied: true });
  for (const type of ["MX", "TXT", "DS"]) {
    assert.equal(codeOf(record(type), hidden), 0);
    assert.equal(codeOf(hidden, record(type)), 0);
    assert.notEqual(codeOf(record("CNAME"), record(type)), 0);
  }
  for (const type of ["A", "AAAA", "CNAME", "NS", "DNAME"]) {
    assert.notEqual(codeOf(record(type), hidden), 0, type);
    assert.notEqual(codeOf(hidden, record(type)), 0, type);
  }
});
