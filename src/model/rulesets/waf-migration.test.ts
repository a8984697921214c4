import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { PLANS } from "#model/zones/plan.ts";
import { MIGRATION_STATES, type MigrationState, moveMigration } from "./waf-migration.ts";

const PLAN_NAMES = Object.values(PLANS).map(({ name }) => name);

test("SPEC 3.3: only Enterprise zones can validate, every zone can go straight to the new WAF, and no transition leads back", () => {
  for (const plan of PLAN_NAMES) {
    const to = (from: MigrationState, mode: "validation" | "pending") => moveMigration(from, mode, plan);
    assert.deepEqual(to("start", "validation"), plan === "enterprise" ? { to: "validation" } : { refused: "plan" });
    assert.deepEqual(to("start", "pending"), { to: "pending" });
    // A zone that has left Enterprise meanwhile can still end what it began.
    assert.deepEqual(to("validation", "pending"), { to: "pending" });
    assert.deepEqual(to("pending", "validation"), { refused: "irreversible" });
  }
});

test("SPEC 3.3: with any requests in any order the state only advances", () => {
  const step = fc.tuple(fc.constantFrom("validation" as const, "pending" as const), fc.constantFrom(...PLAN_NAMES));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let state: MigrationState = "start";
      for (const [mode, plan] of steps) {
        const moved = moveMigration(state, mode, plan);
        if (!("to" in moved)) continue;
        assert.ok(MIGRATION_STATES.indexOf(moved.to) >= MIGRATION_STATES.indexOf(state));
        assert.ok(moved.to !== "validation" || plan === "enterprise");
        state = moved.to;
      }
      if (steps.some(([mode]) => mode === "pending")) assert.equal(state, "pending");
    }),
  );
});
