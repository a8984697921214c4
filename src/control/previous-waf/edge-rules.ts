import type { RuleEntry } from "#snapshot/entries.ts";

/** A rule of a slot; `id` is that of the object that it comes from, by which events name it. */
export const edgeRule = (
  id: string,
  action: string,
  expression: string,
  more: Partial<Omit<RuleEntry, "id" | "action" | "expression">> = {},
): RuleEntry => ({ id, ref: id, version: "1", action, action_parameters: {}, expression, description: "", enabled: true, ...more });

/** Nothing of the slot runs behind it for requests that it applies to. */
export const endSlot = (id: string, expression: string, more: Partial<RuleEntry> = {}): RuleEntry =>
  edgeRule(id, "skip", expression, { action_parameters: { ruleset: "current" }, logging: { enabled: false }, ...more });
