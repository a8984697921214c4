import { newId } from "#kernel/crypto/ids.ts";
import type { RuleListKind } from "#model/rulesets/rule-list.ts";
import { bucketOf, readItem, showItem } from "#control/lists/item-forms.ts";
import type { StoredRule } from "#control/rulesets/rules.ts";
import type { ListEntry, RulesetEntry } from "#snapshot/entries.ts";
import { accountSensitiveData, zoneSensitiveData } from "#store/detection/sensitive-data.ts";
import { insertItems, insertRuleList, type RuleListItemRow } from "#store/rulesets/rule-lists.ts";
import { keepVersion } from "#store/rulesets/ruleset-versions.ts";
import { insertRuleset, type RulesetRow } from "#store/rulesets/rulesets.ts";
import { each, type Recover, type RecoveryDeps, timeOf } from "./recovery.ts";

/** Rulesets with the one version in force. The compiled legacy firewall does not show its source objects. */
export const recoverRulesets = each("ruleset", async ({ db }, id, entry, deps) => {
  if (isPreviousFirewall(entry)) return;
  const row = rulesetRow(id, entry, timeOf(deps));
  await insertRuleset(db, row);
  await keepVersion(db, row, 1);
});

export const isPreviousFirewall = ({ slot }: RulesetEntry): boolean => slot !== undefined;

function rulesetRow(id: string, { level, owner_id, kind, phase, name, version, rules }: RulesetEntry, last_updated: string): RulesetRow {
  const stored = rules.map((rule): StoredRule => ({ ...rule, last_updated }) as StoredRule);
  return { id, level, owner_id, kind, phase, name, description: "", version: Number(version), rules: JSON.stringify(stored), last_updated };
}

/** Lists with all their items, without descriptions and comments. */
export const recoverLists: Recover = async (deps) => {
  const parts = Map.groupBy(deps.snapshot.entries("list"), ([, { list_id }]) => list_id);
  for (const [id, entries] of parts) {
    const inOrder = entries.map(([, part]) => part).toSorted((a, b) => a.part - b.part);
    await recoverList(deps, id, inOrder);
  }
};

const ITEMS_A_UNIT = 2000;

async function recoverList(deps: RecoveryDeps, id: string, parts: readonly ListEntry[]): Promise<void> {
  const [first] = parts;
  if (first === undefined) return;
  const now = timeOf(deps);
  const values = parts.flatMap(({ items }) => items.map((item) => JSON.stringify(item)));
  // Planes have items in the order of their identifiers.
  const ids = values.map(() => newId()).toSorted();
  const rows = values.map((value, index): RuleListItemRow => {
    const { key } = readItem(first.kind, showItem(first.kind as RuleListKind, value), "");
    const times = { created_on: now, modified_on: now };
    return { list_id: id, id: ids[index] as string, item_key: key, bucket: bucketOf(key), value, comment: "", ...times };
  });
  const { account_id, name, kind } = first;
  await deps.store.write(({ db }) =>
    insertRuleList(db, { id, account_id, name, kind, description: "", num_items: rows.length, created_on: now, modified_on: now }),
  );
  for (let at = 0; at < rows.length; at += ITEMS_A_UNIT)
    await deps.store.write(({ db }) => insertItems(db, rows.slice(at, at + ITEMS_A_UNIT)));
}

/** Allowed values and patterns of zones and accounts. */
export const recoverDetection = each("detection", async ({ db }, ownerId, { allowed, patterns }, deps) => {
  const { insert } = deps.snapshot.get("zone", ownerId) === undefined ? accountSensitiveData : zoneSensitiveData;
  const objects = [
    ...allowed.map(({ id, ...value }) => ({ id, kind: "allowed", value })),
    ...patterns.map(({ id, ...value }) => ({ id, kind: "pattern", value: { enabled: true, ...value } })),
  ];
  for (const [index, { id, kind, value }] of objects.entries()) {
    const now = timeOf(deps, index);
    await insert(db, ownerId, { id, kind, value: JSON.stringify(value), created_on: now, modified_on: now });
  }
});
