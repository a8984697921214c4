import type { Call } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { rulesetView } from "#control/rulesets/view.ts";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import { rulesetEntry } from "#snapshot/compile/ruleset-entry.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";
import type { AuditEntry, Unit } from "#store/database/store.ts";

/** Publishes a ruleset's new state to the planes, and writes the audit row. */
export function publishRuleset(
  unit: Unit,
  call: Call,
  scope: RulesetScope,
  action: string,
  before: RulesetRow | null,
  after: RulesetRow,
): Ruleset {
  const view = rulesetView(after);
  unit.audit({ ...auditOf(call, scope, action, after.id), before: before && rulesetView(before), after: view });
  unit.change({ kind: "ruleset", id: after.id, value: rulesetEntry(after, scope.account_id) });
  return view;
}

export const auditOf = (call: Call, scope: RulesetScope, action: string, id: string): AuditEntry => ({
  action,
  actor: auditActor(call),
  account_id: scope.account_id,
  zone_id: scope.zone_id,
  resource: { type: "ruleset", id },
});
