import type { NamedLists } from "#rules/expression/values/lists.ts";
import type { RegexTable } from "#rules/regex/regex-table.ts";

/** A customer's own pattern as overrides see it: a rule of the ruleset that it runs with. */
export interface OwnPattern {
  readonly id: string;
  /** Besides the category `custom`. */
  readonly tags: readonly string[];
  /** Absent: enabled. */
  readonly enabled?: boolean;
}

/** Objects that a rule may name. */
export interface RuleContext {
  /** Kind of the ruleset that contains the rule. */
  readonly kind: "root" | "zone" | "custom";
  /** The account's custom rulesets by id, which rules of its entry points may execute. */
  readonly customRulesets: ReadonlyMap<string, { readonly name: string; readonly phase: string }>;
  /** The account's lists: their names and kinds. */
  readonly lists: NamedLists;
  /** The zone's and the account's own patterns of sensitive data, which overrides may name beside the managed rules. */
  readonly patterns?: readonly OwnPattern[];
  /** The regular expressions of the ruleset; each rule by itself is bounded without it. */
  readonly regexes?: RegexTable;
}
