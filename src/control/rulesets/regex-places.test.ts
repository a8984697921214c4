import assert from "node:assert/strict";
import { systemActor } from "#control/call.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";
import type { RulesetScope } from "./ruleset-scope.ts";

const PHASE = "http_request_firewall_custom";
/** Some 800 places, 62 of which fit into a ruleset. */
const large = (n: number) => ({
  action: "block",
  expression: `http.request.body.raw matches "${`([a-z]{1,30}${n}|b){1,20}`.repeat(3)}"`,
});
const larges = (count: number) => Array.from({ length: count }, (_, n) => large(n + 100));

storeTest("a ruleset limits its regular expressions, and the error names the rule that would exceed it", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { rulesets } = control;
  const { id: zone_id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const scope: RulesetScope = { level: "zone", account_id, zone_id, plan: "enterprise", actor: systemActor("test") };
  await assert.rejects(
    rulesets.putEntryPoint(call(), scope, PHASE, { rules: larges(200) }),
    (error: { source: string; message: string }) => {
      const at = Number(/^\/rules\/(\d+)\/expression$/.exec(error.source)?.[1]);
      assert.ok(at > 40 && at < 80, error.source);
      assert.match(error.message, /have \d+ positions after expanding their repetitions; at most 50000 are allowed/);
      return true;
    },
  );
  await assert.rejects(rulesets.entryPoint(scope, PHASE), failing(10003));
  // The same one as often as one likes.
  const same = await rulesets.putEntryPoint(call(), scope, PHASE, { rules: Array.from({ length: 200 }, () => large(1)) });
  assert.equal(same.rules.length, 200);
  const most = await rulesets.putEntryPoint(call(), scope, PHASE, { rules: larges(40) });
  const added = await rulesets.addRule(call(), scope, most.id, large(1));
  let refused = 0;
  for (let n = 2; n < 40 && refused === 0; n++)
    await rulesets.addRule(call(), scope, most.id, large(n)).catch((error: { source: string }) => {
      assert.equal(error.source, "/expression");
      refused = n;
    });
  assert.ok(refused > 2, String(refused));
  // A rule without a regular expression still fits, and so does one whose pattern the ruleset already has.
  await rulesets.addRule(call(), scope, most.id, { action: "block", expression: "ssl" });
  await rulesets.editRule(call(), scope, most.id, added.rules.at(-1)!.id, large(1));
});
