import type { RuleEntry, RulesetEntry } from "../entries.ts";

export interface RulesetColumns {
  readonly level: string;
  readonly owner_id: string;
  readonly kind: string;
  readonly phase: string;
  readonly name: string;
  readonly version: number;
  readonly rules: string;
}

/** `accountId` is the owner, or the account of the owning zone. */
export const rulesetEntry = (row: RulesetColumns, accountId: string): RulesetEntry => ({
  level: row.level as RulesetEntry["level"],
  owner_id: row.owner_id,
  account_id: accountId,
  kind: row.kind as RulesetEntry["kind"],
  phase: row.phase,
  name: row.name,
  version: String(row.version),
  rules: (JSON.parse(row.rules) as RuleEntry[]).map(ruleEntry),
});

/** Stored rules have more fields than planes need. */
const ruleEntry = (rule: RuleEntry): RuleEntry => ({
  id: rule.id,
  ref: rule.ref,
  version: rule.version,
  action: rule.action,
  action_parameters: rule.action_parameters ?? {},
  expression: rule.expression,
  description: rule.description,
  enabled: rule.enabled,
  ...(rule.logging === undefined ? {} : { logging: rule.logging }),
  ...(rule.ratelimit === undefined ? {} : { ratelimit: rule.ratelimit }),
});
