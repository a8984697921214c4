import assert from "node:assert/strict";
import { test } from "node:test";
import { DETECTORS_BY_ID } from "#rules/detectors/catalog/table.ts";
import { eventOf } from "./event.ts";
import type { ExaminedMatch } from "./matches.ts";
import { testSubject } from "#edge/testing/subject.ts";

const detector = DETECTORS_BY_ID.get("fin.iban") ?? assert.fail();
const MATCHES: readonly ExaminedMatch[] = [
  { detector, match: { detector: detector.id, rule_id: detector.rule_id, count: 1, offset: 5, confidence: "high" } },
];

test("an event removes secrets from the query before it is searched for sensitive data", () => {
  const looked: string[] = [];
  const mask = (texts: readonly string[]): readonly string[] => {
    looked.push(...texts);
    return texts;
  };
  const subject = testSubject({ query: "password=hunter2&page=2&access_token=abc", country: "PT" });
  const row = eventOf(subject, MATCHES, { id: "i", limited: false, mask });
  assert.equal(row?.country, "PT");
  assert.equal(row.query, "password=[removed]&page=2&access_token=[removed]");
  assert.ok(!looked.join().includes("hunter2"));
});
