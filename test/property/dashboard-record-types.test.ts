import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPriority, RECORD_EXAMPLES } from "../../dashboard/src/pages/dns/record-types.ts";
import { encodeContent } from "#wire/dns/record-types.ts";

test("the dashboard's example of each record type is content of that type", () => {
  const whole = RECORD_EXAMPLES.filter(([, content]) => !content.includes("…"));
  assert.ok(whole.length > 20);
  for (const [type, content] of whole) {
    const priority = hasPriority(type) ? 10 : undefined;
    assert.doesNotThrow(() => encodeContent(type, content, { origin: "example.com", priority }), type);
  }
});
