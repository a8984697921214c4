import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { fc } from "../../../test/support/property.ts";
import { checkedZone, type WireRecord } from "../../../test/support/checked-zone.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { RdataError } from "#wire/dns/errors.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { unescapeText } from "#wire/dns/presentation.ts";
import { encodeContent, typeCode } from "#wire/dns/record-types.ts";
import { parseZoneFile, type ZoneFileRecord, zoneFileItems } from "./zonefile.ts";

const FILE = `; a comment alone
$ORIGIN example.com.
$TTL 1h
@	IN	SOA	ns1 host\\.master (
		2024010101 ; serial
		3h 1h 1w 30m )
	IN NS ns1
	IN NS ns2.other.net.
	MX 10 mail
www 300 IN A 192.0.2.1
	IN 600 AAAA 2001:db8::1 ; both orders of class and TTL
txt TXT ( "one; not a comment"
	"two \\"quoted\\"" three )
$ORIGIN sub
a A 192.0.2.2
*.b CNAME @
_sip._tcp SRV 1 2 5060 sip.example.net.
h HTTPS 1 . alpn="h3,h2" port=8443
caa CAA 0 issue "ca.example; x=y"
odd\\.label\\032x TXT a
unknown TYPE65280 \\# 2 abcd
`;

test("the parser reads every form of entry", () => {
  const { records, errors } = parseZoneFile(FILE, { origin: "example.com" });
  assert.deepEqual(errors, []);
  const shown = records.map(({ name, type, ttl, content, priority, line }) => [
    name,
    type,
    ttl,
    priority === null ? content : `${priority} ${content}`,
    line,
  ]);
  assert.deepEqual(shown, [
    ["example.com", "SOA", 3600, "ns1.example.com host\\.master.example.com 2024010101 10800 3600 604800 1800", 4],
    ["example.com", "NS", 3600, "ns1.example.com", 7],
    ["example.com", "NS", 3600, "ns2.other.net", 8],
    ["example.com", "MX", 3600, "10 mail.example.com", 9],
    ["www.example.com", "A", 300, "192.0.2.1", 10],
    ["www.example.com", "AAAA", 600, "2001:db8::1", 11],
    ["txt.example.com", "TXT", 3600, '"one; not a comment" "two \\"quoted\\"" "three"', 12],
    ["a.sub.example.com", "A", 3600, "192.0.2.2", 15],
    ["*.b.sub.example.com", "CNAME", 3600, "sub.example.com", 16],
    ["_sip._tcp.sub.example.com", "SRV", 3600, "1 2 5060 sip.example.net", 17],
    ["h.sub.example.com", "HTTPS", 3600, '1 . alpn="h3,h2" port="8443"', 18],
    ["caa.sub.example.com", "CAA", 3600, '0 issue "ca.example; x=y"', 19],
    ["odd\\.label\\032x.sub.example.com", "TXT", 3600, '"a"', 20],
    ["unknown.sub.example.com", "TYPE65280", 3600, "\\# 2 abcd", 21],
  ]);
});

test("errors name their line and keep the other lines", () => {
  const text = [
    "  A 192.0.2.1",
    "a A 192.0.2.256",
    "b NOPE x",
    'c TXT "open',
    "d A 192.0.2.4 )",
    "$INCLUDE /etc/passwd",
    "$WHAT x",
    "e CH A 192.0.2.5",
    "f",
    "out.example.net. A 192.0.2.6",
    "ok A 192.0.2.7",
    "g A (",
  ].join("\n");
  const { records, errors } = parseZoneFile(text, { origin: "example.com." });
  assert.deepEqual(
    records.map(({ name, ttl }) => [name, ttl]),
    [["ok.example.com", null]],
  );
  assert.deepEqual(
    errors.map(({ line }) => line),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12],
  );
  assert.equal(errors[5]?.message, "$INCLUDE directive not allowed.");
});

test("records after an unreadable owner name do not go to the owner before it", () => {
  const { records, errors } = parseZoneFile("a A 192.0.2.1\nb..c A 192.0.2.2\n A 192.0.2.3\n", { origin: "example.com" });
  assert.deepEqual([records.length, errors.map(({ line }) => line)], [1, [2, 3]]);
});

const messages = (text: string): string[] => parseZoneFile(text, { origin: "example.com" }).errors.map(({ message }) => message);

test("$GENERATE is limited and reports its errors", () => {
  const { records, errors } = parseZoneFile("$GENERATE 0-65535 h$ A 10.0.0.1\n$GENERATE 1-1 i$ A 10.0.0.1\n", { origin: "example.com" });
  assert.deepEqual([records.length, errors], [65_536, [{ line: 2, message: "The $GENERATE directives make more than 65536 records." }]]);
  for (const [text, message] of [
    ["$GENERATE 0-4294967295 h$ A 10.0.0.1", /range such as/],
    ["$GENERATE 0-2147483647 h$ A 10.0.0.1", /more than 65536/],
    ["$GENERATE 5-1 h$ A 10.0.0.1", /range such as/],
    ["$GENERATE 1-5/0 h$ A 10.0.0.1", /range such as/],
    ["$GENERATE x h$ A 10.0.0.1", /range such as/],
    ["$GENERATE", /range such as/],
    ["$GENERATE 1-2 h$ A", /an owner, a type and its data/],
    ["$GENERATE 1-2 h${1,999} A 10.0.0.1", /modifier/],
    ["$GENERATE 1-2 h${x} A 10.0.0.1", /modifier/],
    ["$GENERATE 1-2 h${ A 10.0.0.1", /modifier/],
    ["$GENERATE 1-2 h${-9,0,x} A 10.0.0.1", /negative/],
    ["$GENERATE 1-2 h$ A 10.0.0.${300}", /valid IPv4/],
    ["$GENERATE 1-2 h$ NOPE x", /not known/],
  ] as const) {
    const [first, ...more] = messages(text);
    assert.match(first ?? "", message, text);
    assert.deepEqual(more, []);
  }
});

test("a TTL that is too large is an error, and not read as a type", () => {
  for (const ttl of ["2147483648", "12345678901", "9999999999W", "1X"])
    assert.match(messages(`www ${ttl} A 192.0.2.1`).join(), new RegExp(`^${ttl} is not a time to live: it must be from 0 to 2147483647`));
});

test("directives are single words", () => {
  for (const text of ["$TTL 1h 2h", "$TTL", "$TTL x", "$ORIGIN a b", "$ORIGIN", '$ORIGIN "a"', "$INCLUDE", "$WHAT"])
    assert.equal(messages(text).length, 1, text);
});

test("the comment after a record's last line belongs to it", () => {
  const text = "a A 192.0.2.1 ;  one  \n; alone\nb TXT ( x ; inside\n) ; two\nc A 192.0.2.3\nd A 192.0.2.4;three;\n";
  const { records } = parseZoneFile(text, { origin: "example.com" });
  assert.deepEqual(
    records.map(({ comment }) => comment),
    ["one", "two", "", "three;"],
  );
});

test("the parser skips a signer's records with any content, but not other types that a zone cannot store", () => {
  const text =
    "@ RRSIG A 13 2 300 x y\n@ 300 IN NSEC a A NS\n@ TYPE50 \\# 0\n@ NSEC3PARAM 1 0 0 -\n@ ZONEMD 1 1 1 00\n@ SIG A 5 2 x\n@ TYPE30 \\# 0\na A 192.0.2.1\n";
  const kinds = [...zoneFileItems(text, { origin: "example.com" })].map(({ kind }) => kind);
  assert.deepEqual(kinds, [...Array<string>(7).fill("skipped"), "record"]);
  assert.deepEqual(messages("@ ANY x\n@ TYPE255 \\# 0\n@ NULL x\n").length, 3);
});

test("parsing a large or hostile file takes linear time", () => {
  const many = 20_000;
  const rows: [text: string, records: number, errors: number][] = [
    ["a A 192.0.2.1\n".repeat(many), many, 0],
    [`t TXT ${'"x" '.repeat(many)}\n`, 0, 1],
    [`t TXT ${'"x" '.repeat(many * 8)}\nb A 192.0.2.1\n`, 1, 1],
    [`t TXT ( ${'"x"\n'.repeat(many)} )\nb A 192.0.2.1\n`, 1, 1],
    [`t TXT ( ${'"x"\n'.repeat(2_000)} )\nb A 192.0.2.1\n`, 2, 0],
    [`a A ${"(".repeat(many)} 192.0.2.1 ${")".repeat(many)}\n`, 1, 0],
    [`a A (${"\n".repeat(many)}`, 0, 1],
    ['"'.repeat(many * 5), 0, 1],
    ["\\".repeat(many * 5), 0, 1],
    [`a CERT 1 1 1 ${"A".repeat(400_000)}\nb A 192.0.2.1\n`, 1, 1],
    [`${"a.".repeat(many)} A 192.0.2.1\n`, 0, 1],
    [`a HTTPS 1 . ${Array.from({ length: 6000 }, (_, i) => `key${i + 100}=x`).join(" ")}\n`, 0, 1],
    [`a SVCB 1 . dohpath="/${"{dns,".repeat(3000)}"\n`, 0, 1],
    ["\0".repeat(many), 0, 1],
    ["x\n".repeat(many), 0, 100],
  ];
  for (const [text, records, errors] of rows) {
    const read = parseZoneFile(text, { origin: "example.com" });
    assert.deepEqual([read.records.length, read.errors.length], [records, errors], text.slice(0, 40));
  }
});

test("property: any text is read without an exception", () => {
  const words =
    '\n| |\t|(|)|"|;|\\|@|$ORIGIN|$TTL|$GENERATE|$INCLUDE|1-3|h$|${0,2,n}|IN|A|TXT|LOC|HTTPS|TYPE1|\\#|300|1h|a|192.0.2.1|=|\\097|\r|\0';
  const piece = fc.oneof(fc.constantFrom(...words.split("|")), fc.string({ maxLength: 5 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const { records, errors } = parseZoneFile(pieces.join(""), { origin: "example.com" });
      assert.ok(records.length + errors.length <= 3 * pieces.length + 1);
    }),
    { numRuns: 3000 },
  );
});

test("property: nearly valid files are read without an exception", () => {
  const files = readdirSync(ZONES).map((file) => readFileSync(join(ZONES, file), "utf8"));
  const junk = fc.oneof(fc.constantFrom("(", ")", '"', "\\", "\n", ";", "$", "\0", "{", "}", " ", "\\200"), fc.string({ maxLength: 3 }));
  const damage = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat(12), put: junk });
  fc.assert(
    fc.property(fc.constantFrom(...files), fc.array(damage, { minLength: 1, maxLength: 6 }), (file, damages) => {
      let text = file;
      for (const { at, cut, put } of damages) {
        const from = Math.floor(at * text.length);
        text = text.slice(0, from) + put + text.slice(from + cut);
      }
      const lines = text.split("\n").length;
      const { records, errors } = parseZoneFile(text, { origin: "example.com" });
      for (const { line } of [...records, ...errors]) assert.ok(line >= 1 && line <= lines);
      for (const record of records) wireRecord(record);
    }),
    { numRuns: 1500 },
  );
});

const ZONES = join(import.meta.dirname, "../../../test/golden/zones");

/** As sets, because BIND reorders records. Owners are compared case-insensitively. */
const written = (records: readonly WireRecord[]): string[] =>
  records.map(({ owner, type, ttl, rdata }) => `${keyOf(Buffer.from(owner, "hex"))} ${ttl} ${type} ${rdata}`).sort();

const wireRecord = ({ name, type, ttl, content, priority }: ZoneFileRecord): WireRecord => ({
  owner: parseAbsoluteName(name).toString("hex"),
  type: typeCode(type) ?? 0,
  ttl: ttl ?? -1,
  rdata: Buffer.from(
    encodeContent(type, priority === null ? content : `${priority} ${content}`, { origin: ".", style: "master" }),
  ).toString("hex"),
});

test("records by number get the name of their type, and unknown types are refused", () => {
  const { records, errors } = parseZoneFile("net APL 1:192.0.2.0/24\nnet TYPE42 \\# 4 00011800\nold WHAT x\n", { origin: "example.com" });
  assert.deepEqual(
    records.map(({ type, content }) => `${type} ${content}`),
    ["APL 1:192.0.2.0/24", "APL 1:0.0.0.0/24"],
  );
  assert.deepEqual(errors, [{ line: 3, message: 'Record type "WHAT" is not known.' }]);
});

test("named-checkzone's output of every type is read back", { skip: toolOrSkip("named-checkzone") }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "zonefile-"));
  try {
    const dumped = join(directory, "dumped");
    await promisify(execFile)("named-checkzone", ["-D", "-o", dumped, "example.com", join(ZONES, "types.zone")], { timeout: 60_000 });
    const read = (path: string) => parseZoneFile(readFileSync(path, "utf8"), { origin: "example.com" });
    const [ours, theirs] = [read(join(ZONES, "types.zone")), read(dumped)];
    assert.deepEqual(theirs.errors, []);
    assert.deepEqual(written(theirs.records.map(wireRecord)), written(ours.records.map(wireRecord)));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

for (const file of readdirSync(ZONES)) {
  test(`the parser reads ${file} like named-checkzone`, { skip: toolOrSkip("named-checkzone") }, async () => {
    const directory = mkdtempSync(join(tmpdir(), "zonefile-"));
    try {
      const text = readFileSync(join(ZONES, file), "utf8");
      const origin = /^; zone: (\S+)/.exec(text)?.[1] ?? "";
      const { records, errors } = parseZoneFile(text, { origin });
      assert.deepEqual(errors, []);
      assert.deepEqual(written(records.map(wireRecord)), written(await checkedZone(origin, join(ZONES, file), join(directory, "raw"))));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
}

test("the parser refuses a line with too many words early, and reads later lines", () => {
  const { records, errors } = parseZoneFile(`a TXT ${'"" '.repeat(100_000)}\nb TXT ${'"" '.repeat(4_096)}\n`, { origin: "example.com" });
  assert.deepEqual(errors, [{ line: 1, message: "The line has more text than a record can have." }]);
  assert.deepEqual(
    records.map(({ name }) => name),
    ["b.example.com"],
  );
});

test("each item has its position in the file", () => {
  const text = "$TTL 300\na A 192.0.2.1\nb A (\n192.0.2.2 )\nc A nonsense\nd RRSIG x\n$GENERATE 1-2 h$ A 192.0.2.$\n";
  const lineEnds = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
  assert.deepEqual(
    [...zoneFileItems(text, { origin: "example.com" })].map(({ end }) => lineEnds.indexOf(end) + 1),
    [2, 4, 5, 6, 7, 7],
  );
});

test("escapes have the same meaning everywhere", () => {
  const piece = fc.oneof(
    fc.integer({ min: 0, max: 255 }).map((byte) => ({ raw: `\\${String(byte).padStart(3, "0")}`, bytes: Buffer.of(byte) })),
    fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 1 })
      .map((text) => ({ raw: text.replaceAll("\\", "\\\\"), bytes: Buffer.from(text) })),
    fc.constantFrom('"', ";", "é", "😀", "\\", " ").map((text) => ({ raw: `\\${text}`, bytes: Buffer.from(text) })),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      assert.deepEqual(unescapeText(pieces.map(({ raw }) => raw).join("")), Buffer.concat(pieces.map(({ bytes }) => bytes)));
    }),
  );
  for (const raw of ["\\", "a\\", "\\2", "\\25", "\\256", "\\1x2", "\\999"]) assert.throws(() => unescapeText(raw), RdataError);
});

test("internationalized names of a file are converted, as those of the API are, and escaped bytes are not", () => {
  const text =
    '$ORIGIN münchen.example.\nbücher 60 CNAME straße.münchen.example.\n*.BÜRO 60 MX 1 büro\nb\\195\\188ro 60 A 192.0.2.1\n"ü" 60 A 192.0.2.1\n';
  const { records, errors } = parseZoneFile(text, { origin: "xn--mnchen-3ya.example" });
  assert.deepEqual(
    records.map(({ name, content }) => [name, content]),
    [
      ["xn--bcher-kva.xn--mnchen-3ya.example", "xn--strae-oqa.xn--mnchen-3ya.example"],
      ["*.xn--bro-hoa.xn--mnchen-3ya.example", "xn--bro-hoa.xn--mnchen-3ya.example"],
      ["b\\195\\188ro.xn--mnchen-3ya.example", "192.0.2.1"],
    ],
  );
  assert.deepEqual(
    errors.map(({ line }) => line),
    [5],
  );
});

test("the ages that Windows writes beside registered records are read and left out", () => {
  const file = '@ [AGE:3712345] 600 A 192.0.2.1\npc [AGE:0] 1200 IN A 192.0.2.2\n   [age:37] TXT "[AGE:1]"\nx [AGE:] A 192.0.2.3\n';
  const { records, errors } = parseZoneFile(file, { origin: "example.com" });
  const shown = records.map(({ name, type, ttl, content }) => [name, type, ttl, content]);
  assert.deepEqual(shown, [
    ["example.com", "A", 600, "192.0.2.1"],
    ["pc.example.com", "A", 1200, "192.0.2.2"],
    ["pc.example.com", "TXT", 1200, '"[AGE:1]"'],
  ]);
  assert.deepEqual(errors, [{ line: 4, message: 'Record type "[AGE:]" is not known.' }]);
});
