import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { parseZoneFile } from "#wire/zone-files/zonefile.ts";
import { zoneFileText } from "./zone-file-text.ts";

test("a zone file in an older encoding keeps its bytes, and its comments are readable", () => {
  const latin1 = Buffer.from('a 60 TXT "caf\xe9;\\";" ; B\xfcro\nb\xfccher 60 TXT x\n; \xe4\n', "latin1");
  assert.equal(zoneFileText(latin1), 'a 60 TXT "caf\\233;\\";" ; B\xfcro\nb\\252cher 60 TXT x\n; \xe4\n');
  const { records, errors } = parseZoneFile(zoneFileText(latin1), { origin: "example.com" });
  assert.deepEqual(errors, []);
  assert.deepEqual(
    records.map(({ name, content, comment }) => [name, content, comment]),
    [
      ["a.example.com", '"caf\\233;\\";"', "B\xfcro"],
      ["b\\252cher.example.com", '"x"', ""],
    ],
  );
});

test("a zone file in UTF-16, as consoles of Windows write it, is read", () => {
  const text = '\ufeff@ 60 TXT "é"\r\n';
  assert.equal(zoneFileText(Buffer.from(text, "utf16le")), text);
  assert.equal(zoneFileText(Buffer.from(text, "utf16le").swap16()), text);
  assert.equal(zoneFileText(Buffer.from(text, "utf8")), text);
});

test("property: any bytes become text that UTF-8 can store", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = zoneFileText(Buffer.from(bytes));
      assert.equal(text.split("\n").length >= 1, true);
      assert.ok(parseZoneFile(text, { origin: "example.com" }));
    }),
  );
});
