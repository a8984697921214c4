import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { parseTimestamp } from "./timestamp.ts";

test("property: the parser reads RFC 3339 times with any offset and fraction", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date("0001-01-02"), max: new Date("9998-12-31") }), (date) => {
      const text = date.toISOString();
      for (const form of [text, text.replace("T", " "), text.toLowerCase(), text.replace("Z", "+00:00"), text.replace("Z", "000Z")])
        assert.equal(parseTimestamp(form), date.getTime(), form);
    }),
  );
  assert.equal(parseTimestamp("2026-11-26T23:59:59+01:00"), Date.parse("2026-11-26T22:59:59Z"));
});

const NONE = [
  "2026-11-26T24:00:00Z",
  "2026-11-26T23:60:00Z",
  "2026-11-26T23:59:60Z",
  "2026-11-26T12:00:00+24:00",
  "2026-11-26T12:00:00+01:60",
  "2026-02-30T12:00:00Z",
  "2026-13-01T12:00:00Z",
  "2026-11-26T12:00:00",
  "2026-11-26T12:00Z",
  "2026-11-26",
  "2026",
  "Thu, 26 Nov 2026 12:00:00 GMT",
  "+002026-11-26T12:00:00Z",
];
for (const text of NONE) test(`${text} is not a time`, () => assert.equal(parseTimestamp(text), undefined));
