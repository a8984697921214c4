import assert from "node:assert/strict";
import { test } from "node:test";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { inertNotes } from "./inert-notes.ts";
import { replaceRules, RULES_AT_ONCE } from "./rules.ts";

test("a long ruleset is made, and looked at for its notes, some rules per turn of the event loop", async () => {
  const turns = itemsPerTurn();
  const writes = Array.from({ length: 500 }, (_, i) => ({ action: "log", expression: `http.request.uri.path eq "/%41/${i}"` }));
  const rules = await replaceRules(writes, [], { now: "2026-01-01T00:00:00.000000Z", assertChecked: () => turns.add(1) });
  assert.equal(rules.length, 500);
  const watched = rules.map(({ expression, ...rule }) => ({
    ...rule,
    get expression() {
      turns.add(1);
      return expression;
    },
  }));
  const notes = await inertNotes(watched, { normalization: { type: "rfc3986", scope: "both" } });
  assert.equal(notes.length, 500);
  assert.ok(turns.most() <= 3 * RULES_AT_ONCE, String(turns.most()));
});
