import assert from "node:assert/strict";
import { test } from "node:test";
import { RETIRED_RULE_IDS, RETIRED_TAGS } from "./retired.ts";
import { DETECTORS } from "./table.ts";

test("no rule uses the ID or tag of a retired one", () => {
  assert.equal(RETIRED_RULE_IDS.size, 96);
  for (const { id, rule_id, tags = [] } of DETECTORS) {
    assert.ok(!RETIRED_RULE_IDS.has(rule_id), id);
    for (const tag of tags) assert.ok(!RETIRED_TAGS.has(tag), id);
  }
});
