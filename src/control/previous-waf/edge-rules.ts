import type { RuleEntry } from "#snapshot/entries.ts";

/** A rule of a slot; `id` is that of its source object, which events show. */
export const edgeRule = (
  id: string,
  action: string,
  expression: string,
  more: Partial<Omit<RuleEntry, "id" | "action" | "expression">> = {},
): RuleEntry => ({ id, ref: id, version: "1", action, action_parameters: {}, expression, description: "", enabled: true, ...more });

/** Ends the slot for matching requests. */
export const endSlot = (id: string, expression: string, more: Partial<RuleEntry> = {}): RuleEntry =>
  edgeRule(id, "skip", expression, { action_parameters: { ruleset: "current" }, logging: { enabled: false }, ...more });
