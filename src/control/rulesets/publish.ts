import { backgroundTurn } from "#kernel/background-turn.ts";
import type { Call } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { rulesetView } from "#control/rulesets/view.ts";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import { rulesetEntry } from "#snapshot/compile/ruleset-entry.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";
import type { AuditEntry, Unit } from "#store/database/store.ts";

/** Publishes a ruleset's new state to the planes, and writes the audit row. */
export async function publishRuleset(
  unit: Unit,
  call: Call,
  scope: RulesetScope,
  action: string,
  before: RulesetRow | null,
  after: RulesetRow,
): Promise<Ruleset> {
  const entry = rulesetEntry(after, scope.account_id);
  await turnIfLong(after);
  const view = rulesetView(after);
  await turnIfLong(after);
  const earlier = before && rulesetView(before);
  if (before !== null) await turnIfLong(before);
  unit.audit({ ...auditOf(call, scope, action, after.id), before: earlier, after: view });
  await turnIfLong(after);
  unit.change({ kind: "ruleset", id: after.id, value: entry });
  return view;
}

/** Reading or writing rules of a megabyte takes some milliseconds each time. */
const LONG = 100_000;

/** After a step that reads or writes long rules, other work of the thread gets a turn. */
export const turnIfLong = ({ rules }: Pick<RulesetRow, "rules">): Promise<void> | undefined =>
  rules.length > LONG ? backgroundTurn() : undefined;

export const auditOf = (call: Call, scope: RulesetScope, action: string, id: string): AuditEntry => ({
  action,
  actor: auditActor(call),
  account_id: scope.account_id,
  zone_id: scope.zone_id,
  resource: { type: "ruleset", id },
});
