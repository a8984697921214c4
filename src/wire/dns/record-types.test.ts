import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { RdataError, WireError } from "./errors.ts";
import { LABEL_BYTES_MAX } from "./name.ts";
import { RECORD_TYPES, describe, encodeContent, encodeData, presentationText, readRdata, recordTypeOf, typeCode } from "./record-types.ts";
import { WireReader } from "./wire-reader.ts";
import { parseZoneFile } from "#wire/zone-files/zonefile.ts";
import { rdataOf } from "../../../test/support/rdata.ts";

const origin = "example.com";
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("content becomes RDATA and is formatted as in contract.md §3", () => {
  const rows: [type: string, content: string, shown: string, priority?: number][] = [
    ["A", "192.0.2.1", "192.0.2.1"],
    ["AAAA", "2001:DB8:0:0:1::", "2001:db8:0:0:1::"],
    ["AAAA", "::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["CNAME", "www", "www.example.com"],
    ["CNAME", "www.other.net.", "www.other.net"],
    ["CNAME", "Mixed.Case.example", "Mixed.Case.example"],
    ["CNAME", "@", "example.com"],
    ["CNAME", "localhost.", "localhost."],
    ["CNAME", "bücher.example", "xn--bcher-kva.example"],
    ["MX", "mail.example.com", "mail.example.com", 10],
    ["MX", ".", ".", 0],
    ["NS", "ns1.example.net", "ns1.example.net"],
    ["TXT", "v=spf1 include:x.example -all", '"v=spf1 include:x.example -all"'],
    ["TXT", '"a b" "c"', '"a b" "c"'],
    ["TXT", '"with \\"quotes\\" and \\\\ and \\200"', '"with \\"quotes\\" and \\\\ and \\200"'],
    ["TXT", "x".repeat(300), `"${"x".repeat(255)}" "${"x".repeat(45)}"`],
    ["SRV", "5 8806 sip.example.com", "5 8806 sip.example.com", 10],
    ["CAA", '0 issue "ca.example"', '0 issue "ca.example"'],
    ["CAA", "128 issuewild ;", '128 issuewild ";"'],
    ["PTR", "host.example.com.", "host.example.com"],
    [
      "SOA",
      "ns1.example.com host\\.master.example.com 1 10000 2400 604800 1800",
      "ns1.example.com host\\.master.example.com 1 10000 2400 604800 1800",
    ],
    ["DS", `60485 13 2 D4B7 ${"0a".repeat(30)}`, `60485 13 2 d4b7${"0a".repeat(30)}`],
    ["TLSA", "3 1 1 abcd", "3 1 1 abcd"],
    ["SSHFP", "4 7 00ff", "4 7 00ff"],
    ["SPF", "v=spf1 mx -all", '"v=spf1 mx -all"'],
    ["SPF", '"v=spf1 mx" " -all"', '"v=spf1 mx" " -all"'],
    ["URI", '10 "https://example.com/a b"', '10 "https://example.com/a b"', 1],
    ["NAPTR", '100 10 "u" "E2U+sip" "!^(.*)$!sip:\\\\1@x!" .', '100 10 "u" "E2U+sip" "!^(.*)$!sip:\\\\1@x!" .'],
    ["DNSKEY", "257 3 13 aGVs bG8=", "257 3 13 aGVsbG8="],
    ["HTTPS", "1 . alpn=h3,h2 ipv4hint=192.0.2.1", '1 . alpn="h3,h2" ipv4hint="192.0.2.1"'],
    ["HTTPS", "0 other.example", "0 other.example"],
    [
      "SVCB",
      '1 a.example key667="x\\210" mandatory=alpn alpn="f\\\\\\\\oo\\\\,bar,h2"',
      '1 a.example mandatory="alpn" alpn="f\\\\\\\\oo\\\\,bar,h2" key667="x\\210"',
    ],
    ["LOC", "51 30 12.748 N 0 7 39.611 W 0m", "51 30 12.748 N 0 7 39.611 W 0.00m 1.00m 10000.00m 10.00m"],
    ["LOC", "42 S 71 06 W -24m 30m 2000m 5m", "42 0 0.000 S 71 6 0.000 W -24.00m 30.00m 2000.00m 5.00m"],
    ["LOC", "90 N 180 E 42849672.95m 90000000m 0 0.05", "90 0 0.000 N 180 0 0.000 E 42849672.95m 90000000.00m 0.00m 0.05m"],
    ["CDS", "0 0 0 00", "0 0 0 00"],
    ["CDNSKEY", "0 3 0 AA==", "0 3 0 AA=="],
    ["SVCB", "1 . dohpath=/dns-query{?dns}", '1 . dohpath="/dns-query{?dns}"'],
    ["HTTPS", "1 . ech=AAQBAgME", '1 . ech="AAQBAgME"'],
    ["APL", "1:192.168.32.0/21 !1:192.168.38.0/28 2:2001:DB8::/32", "1:192.168.32.0/21 !1:192.168.38.0/28 2:2001:db8::/32"],
    ["APL", "\\# 4 00030800", "\\# 4 00030800"],
    ["CSYNC", "66 3 A NS AAAA", "66 3 A NS AAAA"],
    [
      "HIP",
      "2 200100107B1A74DF AQIDBA== rvs.example.com rvs2.example.com.",
      "2 200100107b1a74df AQIDBA== rvs.example.com. rvs2.example.com.",
    ],
    ["IPSECKEY", "10 1 2 192.0.2.38 AQNRU3mG 7TVT", "10 1 2 192.0.2.38 AQNRU3mG7TVT"],
    ["IPSECKEY", "10 0 0 .", "10 0 0 ."],
    ["TYPE45", "10 3 2 gw.example.com AQID", "10 3 2 gw.example.com. AQID"],
    ["NSAP", "0x47.0005.80", "0x47000580"],
    ["A6", "64 ::1:2:3:4 P.example.com", "64 ::1:2:3:4 p.example.com."],
    ["AMTRELAY", "10 1 2 2001:DB8::15", "10 1 2 2001:db8::15"],
    ["WKS", "192.0.2.1 tcp 80 25", "192.0.2.1 6 25 80"],
    ["DOA", "0 1 2 text/plain -", '0 1 2 "text/plain" -'],
    ["NID", "10 14:4FFF:ff20:ee64", "10 0014:4fff:ff20:ee64"],
    ["DSYNC", "CDS NOTIFY 5359 rr-endpoint.example", "CDS 1 5359 rr-endpoint.example"],
    ["KEY", "49152 3 0", "49152 3 0"],
    ["TYPE65280", "\\# 3 ab cdef", "\\# 3 abcdef"],
    ["TYPE1", "192.0.2.1", "192.0.2.1"],
    ["A", "\\# 4 c0000201", "192.0.2.1"],
  ];
  for (const [type, content, shown, priority] of rows) {
    const described = describe(type, encodeContent(type, content, { origin, priority }));
    assert.deepEqual([described.content, described.priority], [shown, priority ?? null], `${type} ${content}`);
  }
});

test("data becomes RDATA and is decoded again", () => {
  const rows: [type: string, data: Record<string, unknown>, content: string, priority?: number][] = [
    ["SRV", { priority: 10, weight: 5, port: 8806, target: "sip.example.com" }, "5 8806 sip.example.com"],
    ["CAA", { flags: 0, tag: "issue", value: "ca.example; policy=ev" }, '0 issue "ca.example; policy=ev"'],
    ["HTTPS", { priority: 1, target: ".", value: 'alpn="h3,h2" port="8443"' }, '1 . alpn="h3,h2" port="8443"'],
    ["URI", { weight: 20, target: "https://example.com/" }, '20 "https://example.com/"', 7],
    [
      "LOC",
      {
        lat_degrees: 37,
        lat_minutes: 46,
        lat_seconds: 46.5,
        lat_direction: "N",
        long_degrees: 122,
        long_minutes: 23,
        long_seconds: 35.25,
        long_direction: "W",
        altitude: -1.5,
        size: 100,
        precision_horz: 0,
        precision_vert: 0.02,
      },
      "37 46 46.500 N 122 23 35.250 W -1.50m 100.00m 0.00m 0.02m",
    ],
    ["CERT", { type: 1, key_tag: 2, algorithm: 13, certificate: "aGVsbG8=" }, "1 2 13 aGVsbG8="],
  ];
  for (const [type, data, content, priority] of rows) {
    const described = describe(type, encodeData(type, data, { origin, priority }));
    assert.deepEqual([described.data, described.content], [data, content], type);
  }
});

test("invalid values are refused with a message that names the error", () => {
  const rows: [type: string, content: string | object, message: RegExp][] = [
    ["A", "192.0.2.256", /^Content for A record must be a valid IPv4 address\.$/],
    ["A", "192.0.2.1 192.0.2.2", /^Content for A record must be a valid IPv4 address\.$/],
    ["A", "", /must be a valid IPv4 address/],
    ["AAAA", "fe80::1%eth0", /^Content for AAAA record must be a valid IPv6 address\.$/],
    ["CNAME", "192.0.2.1", /not an IP address/],
    ["CNAME", "a..b", /empty labels/],
    ["CNAME", "sp ace.example", /valid host name/],
    ["CNAME", `${"a".repeat(LABEL_BYTES_MAX + 1)}.example`, /63 bytes/],
    ["CNAME", Array.from({ length: 128 }, () => "a").join("."), /255 bytes/],
    ["MX", "mail.example.com", /priority is required/],
    ["TXT", '"a" b', /inconsistent quotes/],
    ["TXT", '"a', /inconsistent quotes/],
    ["TXT", "", /must not be empty/],
    ["TXT", '"\\999"', /escape/],
    ["TXT", "ends in \\", /backslash/],
    ["SRV", { priority: 1, weight: 1, port: 65_536, target: "a.example" }, /port must be an integer from 0 to 65535/],
    ["SRV", { priority: 1, weight: 1, port: 1.5, target: "a.example" }, /port must be an integer/],
    ["SRV", { weight: 1, port: 1, target: "a.example" }, /priority is required/],
    ["SRV", "1 2 3 4 a.example", /target is followed by more text|target must|target/],
    ["CAA", { flags: 256, tag: "issue", value: "" }, /flags must be/],
    ["CAA", { flags: 0, tag: "is sue", value: "" }, /tag must be letters and digits/],
    ["CAA", [], /must be an object/],
    ["HTTPS", "1 . no-default-alpn", /no-default-alpn without alpn/],
    ["HTTPS", "1 . mandatory=port", /mandatory parameter port/],
    ["HTTPS", "1 . alpn=h2 alpn=h3", /same parameter twice/],
    ["HTTPS", "1 . port=70000", /port that is not/],
    ["HTTPS", "1 . nonsense=1", /unknown parameter/],
    ["HTTPS", "0 other.example alpn=h2", /must not have parameters with priority 0/],
    ["HTTPS", "1 . alpn=", /parameter without its value/],
    ["HTTPS", "1 . alpn=h2,,h3", /empty item/],
    ["HTTPS", "1 . port=", /without its value/],
    ["HTTPS", "1 . ipv4hint=192.0.2.1,::1", /address in ipv4hint/],
    ["HTTPS", "1 . ipv6hint=192.0.2.1", /address in ipv6hint/],
    ["HTTPS", "1 . ech=AAEC", /ECHConfigList/],
    ["HTTPS", "1 . no-default-alpn=x alpn=h2", /takes none/],
    ["HTTPS", "1 . mandatory=mandatory", /names itself/],
    ["HTTPS", "1 . mandatory=alpn,alpn alpn=h2", /repeats a key/],
    ["SVCB", "1 . dohpath=/dns-query", /dohpath/],
    ["SVCB", "1 . dohpath=dns{?dns}", /dohpath/],
    ["SVCB", "1 . key65535=x", /unknown parameter/],
    ["LOC", "91 N 0 E 0m", /lat_degrees from 0 to 90/],
    ["LOC", "90 0 0.001 N 0 E 0m", /at most 90 degrees/],
    ["LOC", "1 60 N 0 E 0m", /lat_minutes/],
    ["LOC", "1 N 1 W", /altitude/],
    ["LOC", "1 N 1 N 0m", /long_direction/],
    ["LOC", "1 N 1 E 0m 1m 1m 1m 1m", /more text/],
    ["LOC", { lat_degrees: 1, lat_direction: "N", long_degrees: 1, long_direction: "E", size: 1e9 }, /size from 0/],
    ["LOC", { lat_degrees: 1, lat_direction: "N", long_degrees: 1 }, /long_direction/],
    ["TYPE41", "\\# 0", /not known/],
    ["TYPE255", "\\# 0", /not known/],
    ["TYPE46", "\\# 0", /not RDATA of this type/],
    ["TYPE50", "\\# 0", /not known/],
    ["DS", "1 13 2 abc", /hexadecimal/],
    ["DNSKEY", "257 3 13 a", /base64/],
    ["A", "\\# 3 c00002", /not RDATA of this type/],
    ["TYPE65280", "text", /\\#/],
    ["NOTATYPE", "x", /not known/],
    ["constructor", "x", /not known/],
    ["A", { address: "192.0.2.1" }, /send content/],
  ];
  for (const [type, value, message] of rows) {
    const encode = (): Uint8Array =>
      typeof value === "string" ? encodeContent(type, value, { origin }) : encodeData(type, value, { origin });
    assert.throws(encode, (error) => error instanceof RdataError && message.test(error.message), `${type} ${JSON.stringify(value)}`);
  }
});

test("values that other name servers refuse to read, with the zone around them, are refused", () => {
  const rows: [type: string, content: string, field?: string][] = [
    ["DS", "1 13 2 abcd", "digest"],
    ["DS", `1 13 4 ${"ab".repeat(32)}`, "digest"],
    ["SSHFP", `4 2 ${"ab".repeat(20)}`, "fingerprint"],
    ["SSHFP", `1 1 ${"ab".repeat(32)}`, "fingerprint"],
    ["X25", '"123"'],
    ["X25", '"12a4"'],
    ...[
      "!^.*$",
      "!^.*$!x",
      "1a1b1",
      "!(a!b!",
      "!a)!b!",
      "!a!\\\\1!",
      "!(a)!\\\\0!",
      "!(a)!\\\\2!",
      "!a!b!x",
      "!a!b!!",
      "!!b!",
      "![a!b!",
    ].map((regex): [string, string, string] => ["NAPTR", `1 1 "u" "E2U+sip" "${regex}" .`, "regex"]),
  ];
  for (const [type, content, field] of rows)
    assert.throws(() => encodeContent(type, content, { origin }), { name: "RdataError", field }, `${type} ${content}`);
  for (const regex of ["", "!^.*$!sip:info@example.com!", "/(a(b))[)(]/\\\\2\\\\1/i", "!a\\\\!b!!"])
    encodeContent("NAPTR", `1 1 "u" "E2U+sip" "${regex}" .`, { origin });
});

test("bytes of known types that are written by number have the structure of their type", () => {
  const name = "03777777076578616d706c6500";
  const good: [number, string][] = [
    [11, "c0000201060102"],
    [22, "47"],
    [23, name],
    [25, "0100030501"],
    [25, "c0000300"],
    [27, "013101320133"],
    [38, `7801${name}`],
    [38, `00${"01".repeat(16)}`],
    [42, ""],
    [42, "00011504c0a8200100011c84c0a82601"],
    [45, "0a000201"],
    [45, "0a0102c0000226010203"],
    [45, `0a0302${name}01`],
    [55, `0202000201020304${name}`],
    [56, "0131"],
    [57, "0100030501"],
    [58, name + name],
    [62, "000000420003000460000008"],
    [104, "000a00144fffff20ee64"],
    [106, "000a20010db811401000"],
    [259, "0000000000000001020068"],
    [260, "0a01cb00710f"],
    [260, "0a80"],
    [65_280, "0102"],
    [10, ""],
  ];
  const bad: [number, string][] = [
    [11, "c000"],
    [22, ""],
    [23, "0377"],
    [25, "01000305"],
    [27, "0131"],
    [38, "81"],
    [42, "000130"],
    [42, "00012101c0"],
    [42, "0001080100"],
    [45, "0102"],
    [45, "0a0402"],
    [55, "0102"],
    [55, "0002000101"],
    [56, ""],
    [57, "0100"],
    [58, name],
    [62, "0102"],
    [62, "00000042000300"],
    [104, "0102"],
    [106, "000a20010db8114010"],
    [259, "0102"],
    [260, "0a02c0000201"],
    [260, "0a04"],
  ];
  const encode = (code: number, hex: string): Uint8Array => encodeContent(`TYPE${code}`, `\\# ${hex.length / 2} ${hex}`, { origin });
  for (const [code, hex] of good) assert.equal(hexOf(encode(code, hex)), hex, `TYPE${code}`);
  for (const [code, hex] of bad)
    assert.throws(
      () => encode(code, hex),
      { name: "RdataError", message: /not RDATA of this type|must not be empty/ },
      `TYPE${code} ${hex}`,
    );
});

test("errors in data name the wrong field", () => {
  assert.throws(() => encodeData("SRV", { priority: 1, weight: -1, port: 1, target: "x.example" }, { origin }), {
    name: "RdataError",
    field: "weight",
  });
});

const typeNames = Object.keys(RECORD_TYPES);

test("every type of SPEC 2.3 has a row, and TYPEnnn of a known type is that type", () => {
  for (const type of "A AAAA CNAME MX TXT CAA SRV SVCB HTTPS PTR SOA NS DS DNSKEY URI NAPTR SSHFP TLSA SMIMEA CERT".split(" ")) {
    const row = RECORD_TYPES[type];
    assert.equal(recordTypeOf(`TYPE${row?.code}`), row, type);
  }
  assert.equal(recordTypeOf("TYPE65280")?.name, "TYPE65280");
});

test("RFC 3597 §5: the name of a type without a text is another spelling of its number", () => {
  for (const [type, code] of Object.entries({
    MD: 3,
    MF: 4,
    NULL: 10,
    ATMA: 34,
    UINFO: 100,
    UID: 101,
    GID: 102,
    UNSPEC: 103,
    CLA: 263,
    IPN: 264,
  })) {
    assert.equal(typeCode(type), code, type);
    assert.equal(recordTypeOf(type)?.name, `TYPE${code}`, type);
    assert.equal(hexOf(encodeContent(type, "\\# 2 0102", { origin: "example.com" })), "0102", type);
  }
  assert.equal(recordTypeOf("SIG"), undefined);
});

for (const type of typeNames) {
  test(`${type}: wire, content, data and master file agree`, () => {
    fc.assert(
      fc.property(rdataOf(type), (wire) => {
        assert.equal(hexOf(readRdata(typeCode(type) as number, new WireReader(wire, { pointers: false }))), hexOf(wire));
        const { content, data, priority } = describe(type, wire);
        // Names are written as a client would send them only when they are host names; a master file takes all.
        const options = { origin: ".", style: "master" } as const;
        assert.equal(hexOf(encodeContent(type, priority === null ? content : `${priority} ${content}`, options)), hexOf(wire));
        // A zone file's signatures are skipped, because the server makes its own.
        if (type === "RRSIG" || type === "NSEC") return;
        const line = `odd.example.com. 60 IN ${type} ${presentationText(type, wire)}\n`;
        const { records, errors } = parseZoneFile(line, { origin: "example.com" });
        assert.deepEqual([errors, records.map((record) => [record.content, record.priority])], [[], [[content, priority]]]);
        if (data !== null && isText(wire))
          assert.equal(hexOf(encodeData(type, data, { ...options, ...(priority === null ? {} : { priority }) })), hexOf(wire));
      }),
      { numRuns: 300 },
    );
  });
}

test("property: any bytes are RDATA of the type or are refused with a WireError", () => {
  fc.assert(
    fc.property(fc.constantFrom(...typeNames), fc.uint8Array({ maxLength: 40 }), (type, bytes) => {
      try {
        const wire = readRdata(typeCode(type) as number, new WireReader(Buffer.from(bytes), { pointers: false }));
        assert.equal(typeof describe(type, wire).content, "string");
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
      }
    }),
    { numRuns: 4000 },
  );
});

test("property: any text is encoded and decodes, or is refused with an RdataError", () => {
  const word = fc.oneof(
    fc.constantFrom("0", "1", "65536", ".", "@", "a.example", '"', '"x y"', "\\", "\\#", "alpn=h2", "abcd", "1.2.3.4", "::1", "issue"),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...typeNames, "TYPE1", "TYPE999"),
      fc.array(word, { maxLength: 9 }),
      fc.constantFrom("api", "master" as const),
      (type, words, style) => {
        try {
          const wire = encodeContent(type, words.join(" "), { origin, style });
          assert.equal(typeof describe(type, wire).content, "string");
        } catch (error) {
          if (!(error instanceof RdataError)) throw error;
        }
      },
    ),
    { numRuns: 4000 },
  );
});

test("property: any data is encoded or refused with an RdataError", () => {
  const keys = typeNames.flatMap((type) => RECORD_TYPES[type]?.fields.map((field) => field.key) ?? []);
  const value = fc.oneof(
    fc.integer(),
    fc.string({ maxLength: 8 }),
    fc.constantFrom("a.example", "aa", "alpn=h2"),
    fc.double(),
    fc.constant(null),
    fc.constant({}),
  );
  fc.assert(
    fc.property(fc.constantFrom(...typeNames), fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 8 }), (type, data) => {
      try {
        encodeData(type, data, { origin });
      } catch (error) {
        if (!(error instanceof RdataError)) throw error;
      }
    }),
    { numRuns: 2000 },
  );
});

/** JSON text cannot carry bytes that are not UTF-8: `content` does. */
const isText = (bytes: Buffer): boolean => !bytes.some((byte) => byte > 0x7e);
