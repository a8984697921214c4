import type { Position, Rule, RuleWrite } from "#model/rulesets/ruleset.ts";
import css from "./rule-diff.module.css";

interface DiffProps {
  /** As they are. */
  readonly rules: readonly Rule[];
  readonly added: RuleWrite;
  /** Undefined for the last place. */
  readonly position: Position | undefined;
}

/** The rules of a phase in their order, with the one that comes. */
export function RuleDiff({ rules, added, position }: DiffProps) {
  const at = placeOf(rules, position);
  const line = (rule: RuleWrite): string =>
    `${rule.action ?? ""}${rule.enabled === false ? " (off)" : ""}  ${rule.description || rule.expression || ""}`;
  return (
    <ol className={css["diff"]}>
      {rules.slice(0, at).map((rule) => (
        <li key={rule.id}>{line(rule)}</li>
      ))}
      <li data-added>
        {line(added)}
        <span>when {added.expression}</span>
        {added.action_parameters && <span>with {JSON.stringify(added.action_parameters)}</span>}
      </li>
      {rules.slice(at).map((rule) => (
        <li key={rule.id}>{line(rule)}</li>
      ))}
    </ol>
  );
}

function placeOf(rules: readonly Rule[], position: Position | undefined): number {
  if (position?.before !== undefined) {
    const at = rules.findIndex(({ id }) => id === position.before);
    return Math.max(at, 0);
  }
  return position?.index === undefined ? rules.length : position.index - 1;
}
