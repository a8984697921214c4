import assert from "node:assert/strict";
import { test } from "node:test";
import type { DetectionEntry } from "#snapshot/entries.ts";
import { createCompiledCache } from "./compiled-cache.ts";
import { testSubject } from "#edge/testing/subject.ts";

const LIMITED = testSubject({ enabled: "0" });
const withPattern = (n: number): DetectionEntry => ({
  allowed: [],
  patterns: [{ id: String(n).repeat(32), name: "Staff", pattern: String.raw`EMP-\d{6}`, context: [], validator: "none", tags: [] }],
});

test("zones without patterns share the compiled detectors, and a change of patterns compiles again", () => {
  const entries = new Map<string, DetectionEntry>();
  const compiled = createCompiledCache((id) => entries.get(id));
  const first = compiled({ ...LIMITED, zone_id: "1" });
  assert.equal(compiled({ ...LIMITED, zone_id: "2" }), first);
  entries.set("2", { allowed: [{ id: "a", path: "/" }], patterns: [] });
  assert.equal(compiled({ ...LIMITED, zone_id: "2" }), first, "an allow-list compiles nothing");
  entries.set("2", withPattern(1));
  const own = compiled({ ...LIMITED, zone_id: "2" });
  assert.notEqual(own, first);
  entries.set("2", withPattern(1));
  assert.notEqual(compiled({ ...LIMITED, zone_id: "2" }), own);
  assert.equal(compiled({ ...LIMITED, zone_id: "1" }), first);
});

test("the cache keeps the compiled patterns of the most recently used zones, up to its limit", () => {
  const entries = new Map(["1", "2", "3"].map((id) => [id, withPattern(Number(id))]));
  const compiled = createCompiledCache((id) => entries.get(id), 2);
  const of = (zone_id: string) => compiled({ ...LIMITED, zone_id });
  const [first, second] = [of("1"), of("2")];
  assert.equal(of("1"), first);
  of("3");
  assert.equal(of("1"), first);
  assert.notEqual(of("2"), second, "it was not asked for the longest");
});
