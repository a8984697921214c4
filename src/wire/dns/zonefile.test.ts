import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { parseZoneFile } from "./zonefile.ts";

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

test("a file with every form of entry", () => {
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

test("errors name their line and leave the other lines standing", () => {
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

test("an owner that cannot be read does not pass its records to the owner before", () => {
  const { records, errors } = parseZoneFile("a A 192.0.2.1\nb..c A 192.0.2.2\n A 192.0.2.3\n", { origin: "example.com" });
  assert.deepEqual([records.length, errors.map(({ line }) => line)], [1, [2, 3]]);
});

test("any text is read without an exception", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "\n",
      " ",
      "\t",
      "(",
      ")",
      '"',
      ";",
      "\\",
      "@",
      "$ORIGIN",
      "$TTL",
      "IN",
      "A",
      "TXT",
      "300",
      "a",
      "192.0.2.1",
      "=",
      "\\097",
    ),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const { records, errors } = parseZoneFile(pieces.join(""), { origin: "example.com" });
      assert.ok(records.length + errors.length <= pieces.length + 1);
    }),
    { numRuns: 3000, seed: 20240813 },
  );
});

const run = promisify(execFile);

test("named-checkzone reads the same records", async (t) => {
  const reason = toolOrSkip("named-checkzone");
  if (reason) return t.skip(reason);
  const directory = mkdtempSync(join(tmpdir(), "zonefile-"));
  try {
    const path = join(directory, "zone");
    writeFileSync(path, FILE.replace("h HTTPS", "ns1.example.com. A 192.0.2.53\nmail.example.com. A 192.0.2.25\nh HTTPS"));
    const { stdout: canonical } = await run("named-checkzone", ["-q", "-i", "none", "-D", "-o", "-", "example.com", path], {
      timeout: 10_000,
    });
    const keys = (text: string): string[] =>
      parseZoneFile(text, { origin: "example.com" })
        .records.map(({ name, type, ttl, content, priority }) => [name, ttl, type, priority, content].join(" "))
        .sort();
    assert.deepEqual(
      keys(FILE.replace("h HTTPS", "ns1.example.com. A 192.0.2.53\nmail.example.com. A 192.0.2.25\nh HTTPS")),
      keys(canonical),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});
