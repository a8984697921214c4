import assert from "node:assert/strict";
import { test } from "node:test";
import { ZONE_PROOFS } from "./zone-proof.ts";
import { ZONE_STATES, zoneStateAfter } from "./zone-states.ts";
import { fc } from "../../../test/support/property.ts";
import { judgeCheck, type CheckFacts, type CheckState } from "./zone-check.ts";

const HOUR_MS = 3_600_000;
const PAIR = ["ns1.pool.net", "ns2.pool.net"];
const FACTS: CheckFacts = { parentNames: null, pair: PAIR, isPairShared: false, proof: null, isRefusedAbove: false, isFree: false };
const PENDING: CheckState = {
  status: "pending",
  proof: "none",
  sinceMs: 0,
  seenLooks: 0,
  seenMs: null,
  elsewhereLooks: 0,
  elsewhereSinceMs: null,
};
const ACTIVE: CheckState = { ...PENDING, status: "active", proof: "delegation" };

test("a delegation is confirmed at the second check, and dropped if a check in between does not see it", () => {
  const seen = { ...FACTS, parentNames: PAIR };
  const first = judgeCheck(PENDING, seen, 1_000);
  assert.deepEqual([first.event, first.state.seenLooks, first.nextMs], [null, 1, 60_000]);
  assert.equal(judgeCheck(first.state, seen, 2_000).event, null);
  assert.deepEqual(judgeCheck(first.state, seen, 61_000).event, { kind: "proved", proof: "delegation" });
  const gone = judgeCheck(first.state, { ...FACTS, parentNames: [] }, 61_000);
  assert.equal(judgeCheck(gone.state, seen, 121_000).event, null);
  assert.equal(judgeCheck(first.state, { ...seen, isPairShared: true }, 61_000).event, null);
});

test("another zone's claim on the same name servers does not affect the zone that has them, and neither does a failed check", () => {
  let shared = ACTIVE;
  let silent = ACTIVE;
  let unnamed = ACTIVE;
  for (let hours = 0; hours <= 240; hours += 12) {
    for (const [state, facts] of [
      [shared, { ...FACTS, parentNames: PAIR, isPairShared: true }],
      [silent, FACTS],
      [unnamed, { ...FACTS, parentNames: [] }],
    ] as const)
      assert.equal(judgeCheck(state, facts, hours * HOUR_MS).event, null);
    shared = judgeCheck(shared, { ...FACTS, parentNames: PAIR, isPairShared: true }, hours * HOUR_MS).state;
    silent = judgeCheck(silent, FACTS, hours * HOUR_MS).state;
    unnamed = judgeCheck(unnamed, { ...FACTS, parentNames: [] }, hours * HOUR_MS).state;
  }
});

test("a zone delegated elsewhere moves after three checks over a day", () => {
  const elsewhere = { ...FACTS, parentNames: ["ns1.elsewhere.net"] };
  const events = [];
  let state = ACTIVE;
  for (const hours of [0, 12, 24]) {
    const judged = judgeCheck(state, elsewhere, hours * HOUR_MS);
    events.push(judged.event?.kind);
    state = judged.state;
  }
  assert.deepEqual(events, [undefined, undefined, "superseded"]);
});

const facts = fc.record({
  parentNames: fc.option(fc.subarray([...PAIR, "ns1.elsewhere.net"])),
  pair: fc.constantFrom([], PAIR),
  isPairShared: fc.boolean(),
  proof: fc.option(fc.constantFrom("ds" as const, "txt" as const, "consent" as const)),
  isRefusedAbove: fc.boolean(),
  isFree: fc.boolean(),
});
const state = fc.record({
  status: fc.constantFrom("pending" as const, "active" as const, "moved" as const),
  proof: fc.constantFrom(...ZONE_PROOFS),
  sinceMs: fc.nat(),
  seenLooks: fc.nat(5),
  seenMs: fc.option(fc.nat()),
  elsewhereLooks: fc.nat(5),
  elsewhereSinceMs: fc.option(fc.nat()),
});

test("property: after any observation the next state exists, no check is in the past, and every waiting state ends", () => {
  const holds = fc.property(state, facts, fc.nat(), (before, seen, later) => {
    const nowMs = before.sinceMs + later;
    const { event, nextMs } = judgeCheck(before, seen, nowMs);
    if (event !== null) zoneStateAfter(before.status, event.kind);
    if (nextMs !== null) assert.ok(nextMs > 0);
    const { endsAfterMs } = ZONE_STATES[before.status];
    if (endsAfterMs === null) return;
    assert.ok(nextMs !== null, "a state with an end is looked at until then");
    if (later >= endsAfterMs) assert.ok(event !== null);
    else assert.ok(event !== null || nowMs + nextMs <= before.sinceMs + endsAfterMs + 60_000);
  });
  fc.assert(holds);
});
