import { isDeepStrictEqual } from "node:util";
import { printable } from "../outcome.ts";
import type { FileRule, RulesFile } from "./rules-file.ts";

export type RuleChange =
  | { readonly kind: "added" | "removed"; readonly rule: FileRule }
  | { readonly kind: "changed"; readonly before: FileRule; readonly rule: FileRule };

/** The differences of one phase. */
export interface PhaseDiff {
  readonly phase: string;
  readonly changes: readonly RuleChange[];
  /** The rules that stay have another order. */
  readonly isReordered: boolean;
  /** The phase as it is to be; rules that stay have their `ref`, by which the API keeps them. */
  readonly rules: readonly FileRule[];
}

/** Phases of the file that differ from the zone's rules. */
export function diffRules(current: RulesFile["phases"], wanted: RulesFile["phases"]): readonly PhaseDiff[] {
  return Object.entries(wanted)
    .map(([phase, rules]) => diffPhase(phase, current[phase] ?? [], rules))
    .filter(({ changes, isReordered }) => changes.length > 0 || isReordered);
}

function diffPhase(phase: string, current: readonly FileRule[], wanted: readonly FileRule[]): PhaseDiff {
  const left = new Map(current.map((rule) => [rule.ref ?? "", rule]));
  /** The rule of the zone that each rule of the file replaces. */
  const matches = new Map<FileRule, FileRule>();
  const match = (rule: FileRule, found: FileRule | undefined): void => {
    if (found === undefined || !left.delete(found.ref ?? "")) return;
    matches.set(rule, found);
  };
  for (const rule of wanted) if (rule.ref !== undefined) match(rule, left.get(rule.ref));
  // A rule that somebody wrote without `ref` is the zone's rule that says the same.
  for (const rule of wanted)
    if (rule.ref === undefined)
      match(
        rule,
        [...left.values()].find((other) => isDeepStrictEqual({ ...other, ref: undefined }, { ...rule, ref: undefined })),
      );
  const rules = wanted.map((rule) => (matches.has(rule) ? { ref: matches.get(rule)!.ref, ...rule } : rule) as FileRule);
  const changes = wanted.flatMap((rule, index): readonly RuleChange[] => {
    const before = matches.get(rule);
    if (before === undefined) return [{ kind: "added", rule }];
    return isDeepStrictEqual(before, rules[index]) ? [] : [{ kind: "changed", before, rule: rules[index]! }];
  });
  const staying = wanted.flatMap((rule) => matches.get(rule) ?? []);
  const order = current.filter((rule) => staying.includes(rule));
  return {
    phase,
    changes: [...changes, ...[...left.values()].map((rule): RuleChange => ({ kind: "removed", rule }))],
    isReordered: staying.some((rule, index) => rule !== order[index]),
    rules,
  };
}

/** Lines for people: `-` for what goes, `+` for what comes. */
export function ruleDiffLines(diff: readonly PhaseDiff[]): readonly string[] {
  return diff.flatMap(({ phase, changes, isReordered }) => [
    phase,
    ...changes.flatMap((change) => {
      if (change.kind !== "changed") return [`  ${change.kind === "added" ? "+" : "-"} ${shown(change.rule)}`];
      return [`  - ${shown(change.before)}`, `  + ${shown(change.rule)}`];
    }),
    ...(isReordered ? ["  ~ the order of the rules"] : []),
  ]);
}

const FIRST: readonly string[] = ["ref", "action", "expression", "description"];

function shown(rule: FileRule): string {
  const { action, expression, description } = rule;
  const rest = Object.entries(rule).filter(([field]) => !FIRST.includes(field));
  const more = rest.length === 0 ? "" : ` ${JSON.stringify(Object.fromEntries(rest))}`;
  const comment = description === undefined ? "" : `  # ${description}`;
  return printable(`${action} ${expression ?? ""}${more}${comment}`);
}
