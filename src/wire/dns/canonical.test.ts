import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { canonicalRdata, canonicalRdatas, compareCanonical, signedLabels, successor } from "./canonical.ts";
import { type NameKey, formatName, isWithin, keyOf, nameOfKey, parseAbsoluteName } from "./name.ts";
import { encodeContent } from "./record-types.ts";
import { typeBitmap, typesOf } from "./type-bitmap.ts";

const key = (text: string): NameKey => keyOf(parseAbsoluteName(text));
const text = (name: NameKey): string => formatName(nameOfKey(name));
const rdata = (type: string, content: string): Buffer => Buffer.from(encodeContent(type, content, { origin: ".", style: "master" }));

const labels = fc.array(fc.uint8Array({ minLength: 1, maxLength: 63 }), { maxLength: 3 });
const names = labels.map((parts) => keyOf(Buffer.concat([...parts.flatMap((part) => [Buffer.of(part.length), part]), Buffer.of(0)])));

test("RFC 4034 §6.1: names sort in the order of its example", () => {
  const ordered = [
    "example",
    "a.example",
    "yljkjljk.a.example",
    "Z.a.example",
    "zABC.a.EXAMPLE",
    "z.example",
    "\\001.z.example",
    "*.z.example",
    "\\200.z.example",
  ];
  assert.deepEqual(
    ordered.toReversed().map(key).sort(compareCanonical).map(text),
    ordered.map((name) => text(key(name))),
  );
});

test("names are ordered label by label from the root, by bytes, shorter first", () => {
  const parts = (name: NameKey): Buffer[] => {
    const out: Buffer[] = [];
    for (let at = 0; name.charCodeAt(at) !== 0; at += name.charCodeAt(at) + 1)
      out.unshift(Buffer.from(name.slice(at + 1, at + 1 + name.charCodeAt(at)), "latin1"));
    return out;
  };
  fc.assert(
    fc.property(names, names, (a, b) => {
      const [left, right] = [parts(a), parts(b)];
      const first = left.findIndex((label, i) => right[i] === undefined || Buffer.compare(label, right[i]) !== 0);
      const expected =
        first < 0
          ? Math.sign(left.length - right.length)
          : right[first] === undefined
            ? 1
            : Buffer.compare(left[first] as Buffer, right[first]);
      assert.equal(compareCanonical(a, b), expected);
    }),
    { numRuns: 1000 },
  );
});

test("RFC 4034 §6.2: names in old types are lower case, in newer ones unchanged", () => {
  const rows: [type: string, code: number, content: string, canonical: string][] = [
    ["MX", 15, "10 Mail.Example.COM.", "10 mail.example.com."],
    ["SRV", 33, "1 2 3 Host.Example.", "1 2 3 host.example."],
    ["NAPTR", 35, '1 2 "U" "E2U+SIP" "!A!B!" Next.Example.', '1 2 "U" "E2U+SIP" "!A!B!" next.example.'],
    ["SOA", 6, "NS.Example. Host.Example. 1 2 3 4 5", "ns.example. host.example. 1 2 3 4 5"],
    ["HTTPS", 65, "1 Svc.Example. alpn=h2", "1 Svc.Example. alpn=h2"],
    ["NSEC", 47, "Next.Example. A", "Next.Example. A"],
    ["TXT", 16, '"Text"', '"Text"'],
  ];
  for (const [type, code, content, canonical] of rows)
    assert.deepEqual(Buffer.from(canonicalRdata(code, rdata(type, content))), rdata(type, canonical), type);
  const malformed = Buffer.from("\0\0\u0005AB", "latin1");
  assert.equal(canonicalRdata(18, malformed), malformed);
  assert.deepEqual(
    canonicalRdatas(
      1,
      ["192.0.2.9", "192.0.2.10", "192.0.2.9"].map((address) => rdata("A", address)),
    ),
    ["192.0.2.9", "192.0.2.10"].map((address) => rdata("A", address)),
  );
});

test("no name sorts between a name and its successor, and the successor of the last one is the apex", () => {
  const apex = key("example");
  const long = (label: string): string => `${label}.${`${"a".repeat(60)}.`.repeat(3)}example`;
  assert.equal(text(successor(key("www.example"), apex)), "\\000.www.example");
  assert.equal(text(successor(apex, apex)), "\\000.example");
  // Of 254 bytes: no label fits below, one byte does; of 255, the label itself counts on.
  assert.equal(text(successor(key(long("b".repeat(61))), apex)), long(`${"b".repeat(61)}\\000`));
  assert.equal(text(successor(key(long("b".repeat(62))), apex)), long(`${"b".repeat(61)}c`));
  assert.equal(text(successor(key(long(`${"b".repeat(61)}@`)), apex)), long(`${"b".repeat(61)}[`));
  assert.equal(text(successor(key(long(`${"b".repeat(61)}\\255`)), apex)), long(`${"b".repeat(60)}c`));
  const highest = [53, 63, 63, 63].map((length) => `${String.fromCharCode(length)}${"\xff".repeat(length)}`).join("");
  assert.equal(successor(`${highest}${apex}`, apex), apex);
  fc.assert(
    fc.property(labels, names, (parts, other) => {
      const name = keyOf(Buffer.concat([...parts.flatMap((part) => [Buffer.of(part.length), part]), nameOfKey(apex)]));
      const next = successor(name, apex);
      assert.ok(isWithin(next, apex));
      assert.ok(compareCanonical(name, next) < 0 || next === apex);
      const between = keyOf(Buffer.concat([nameOfKey(other).subarray(0, -1), nameOfKey(apex)]));
      if (between.length <= 255) assert.ok(!(compareCanonical(name, between) < 0 && compareCanonical(between, next) < 0), text(between));
    }),
    { numRuns: 1000 },
  );
});

test("RFC 4034 §4.3: the example's bitmap, and any other, survives encoding and decoding", () => {
  assert.equal(typeBitmap([1234, 15, 1, 47, 46, 1]).toString("hex"), `0006400100000003041b${"00".repeat(26)}20`);
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 65_535 }), { maxLength: 20 }), (types) => {
      assert.deepEqual(
        typesOf(typeBitmap(types)),
        types.toSorted((a, b) => a - b),
      );
    }),
  );
  for (const bad of ["00", "0000", "000140ff", "010140000140", "0021" + "ff".repeat(33)])
    assert.throws(() => typesOf(Buffer.from(bad, "hex")), /bad rdata/, bad);
});

test("RFC 4034 §3.1.3: labels are counted without the root and without a wildcard's asterisk", () => {
  assert.deepEqual(
    [".", "example", "www.example", "*.example", "a.*.example"].map((name) => signedLabels(key(name))),
    [0, 1, 2, 1, 3],
  );
});
