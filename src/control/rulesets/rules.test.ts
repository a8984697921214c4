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
  const notes = await inertNotes(watched, { normalization: { type: "rfc3986", scope: "both" }, hasPlaces: true });
  assert.equal(notes.length, 500);
  assert.ok(turns.most() <= 3 * RULES_AT_ONCE, String(turns.most()));
});

test("a rule that reads a visitor's place is noted if the edge has no database of places", async () => {
  const expressions = [
    'ip.src.country eq "DE" and ip.geoip.asnum eq 1 and ip.src.country ne "FR"',
    'http.host eq "ip.src.country"',
    "ip.src eq 192.0.2.1",
  ];
  const writes = expressions.map((expression) => ({ action: "log", expression }));
  const rules = await replaceRules(writes, [], { now: "2026-01-01T00:00:00.000000Z", assertChecked: () => undefined });
  const because = "is unknown for everybody, because this server has no GeoIP database (edge.geoip_databases).";
  assert.deepEqual(await inertNotes(rules, { normalization: null, hasPlaces: false }), [
    `Rule ${rules[0]!.id}: ip.src.country ${because}`,
    `Rule ${rules[0]!.id}: ip.geoip.asnum ${because}`,
  ]);
  assert.deepEqual(await inertNotes(rules, { normalization: null, hasPlaces: true }), []);
});
