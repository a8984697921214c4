import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { subjectOf, subjectText } from "./scan-plan.ts";
import { requestOf, testSubject } from "#edge/testing/subject.ts";

const word = fc.string({ unit: "grapheme-ascii" }).map((text) => text.replaceAll("\n", ""));

test("property: a decoded request description equals the encoded one, for any time", () => {
  const changes = fc.record({
    at_ms: fc.oneof(
      fc.nat({ max: 8.64e15 }),
      fc.integer({ min: 1_500_000_000_000, max: 2_500_000_000_000 }),
      fc.constantFrom(0, 999_999, 1_000_000),
    ),
    ...{ method: word, host: word, path: word, query: word, user_agent: word, client_ip: word, country: word },
    status: fc.integer({ min: 100, max: 999 }),
  });
  fc.assert(
    fc.property(changes, (given) => {
      const subject = testSubject(given);
      assert.deepEqual(subjectOf(subject, subjectText(requestOf(subject), subject.status)), subject);
    }),
  );
});

test("the decoder rejects a description in which a value contains a line feed", () => {
  const subject = testSubject({ path: "/a\n/b" });
  assert.equal(subjectOf(subject, subjectText(requestOf(subject), 200)), null);
});
