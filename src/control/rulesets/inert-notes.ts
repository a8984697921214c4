import type { Call } from "#control/call.ts";
import { OWN_CATEGORY } from "#rules/managed/own-patterns.ts";
import type { OwnPattern } from "#rules/parameters/rule-context.ts";
import { inertParts } from "#rules/inert.ts";
import type { StoredRule } from "./rules.ts";

/** Sentences about parts of the rules that have no effect. */
export function inertNotes(rules: readonly StoredRule[], patterns: readonly OwnPattern[] = []): readonly string[] {
  const isOwn = (name: string): boolean => name === OWN_CATEGORY || patterns.some(({ id, tags }) => id === name || tags.includes(name));
  return rules.flatMap((rule) => inertParts(rule, isOwn).map((part) => `Rule ${rule.id}: ${part}.`));
}

const NOTES_MAX = 20;

/** Adds notes to a call, without duplicates, because a unit of work may run again. */
export function note(call: Call, notes: readonly string[]): void {
  if (notes.length > 0) call.notes = [...new Set([...(call.notes ?? []), ...notes])].slice(0, NOTES_MAX);
}
