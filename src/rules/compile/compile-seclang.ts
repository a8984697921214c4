import type { CompiledRule, CompiledRuleset, SkipList } from "#rules/engine/compiled-rule.ts";
import type { PartExceptions } from "#rules/managed/excepted-parts.ts";
import { ruleIdOf, SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { RESPONSE_SCORES_RULESET_ID } from "#rules/managed/response-rulesets.ts";
import { executionOf } from "#rules/managed/rulesets.ts";
import type { SecLangRuleset } from "#rules/managed/seclang-ruleset.ts";
import { phaseNamed } from "#rules/phases.ts";
import { type Control, type Rule, rulesOf } from "#rules/seclang/program/program.ts";
import { type Compile, compileManaged } from "./compile-managed.ts";

/**
 * A customer's rules in SecLang. Rules that name rules of the Core Rule Set become exceptions of that ruleset, for the
 * request.
 */
export function compileSecLang(ruleset: SecLangRuleset, compile: Compile): CompiledRuleset {
  const { program } = ruleset;
  const byId = new Map(rulesOf(program).map((rule) => [String(rule.id), rule]));
  const readsBody = program.phases[2]!.length > 0;
  const readsResponse = program.phases[4]!.length > 0;
  const core = phaseNamed(ruleset.phase)?.side === "response" ? RESPONSE_SCORES_RULESET_ID : SCORES_RULESET_ID;
  const withSkips = (compiled: CompiledRuleset): CompiledRuleset => ({
    ...compiled,
    readsBody,
    readsResponse,
    rules: compiled.rules.map((rule) => told(rule, byId.get(rule.definition.id), program.controls ?? [], core)),
  });
  const compiled = compileManaged(ruleset, executionOf(ruleset, {}), compile);
  const { excepting } = compiled;
  return { ...withSkips(compiled), ...(excepting === undefined ? {} : { excepting: (parts) => withSkips(excepting(parts)) }) };
}

/** `rule`: undefined for the rule that represents directives. */
function told(compiled: CompiledRule, rule: Rule | undefined, directives: readonly Control[], core: string): CompiledRule {
  const controls = rule === undefined ? directives : rule.links.flatMap((link) => link.controls);
  const match = { ...compiled.match, logs: rule?.isLogged ?? false };
  return { ...compiled, match, skips: skipListOf(controls, core) };
}

/** `core`: the id of the ruleset with the rules of the Core Rule Set. Null if no rule of the Core Rule Set is excluded. */
function skipListOf(controls: readonly Control[], core: string): SkipList | null {
  const rules: (readonly [string, readonly string[]])[] = [];
  const parts: (readonly [string, PartExceptions])[] = [];
  const rulesets: string[] = [];
  const coreRuleId = (number: number): string => ruleIdOf(core, `crs-${number}`);
  for (const control of controls) {
    if (control.kind === "engine" && control.mode === "off") rulesets.push(core);
    if (control.kind === "remove-rules") rules.push([core, control.ids.map(coreRuleId)]);
    if (control.kind === "remove-target") {
      const { ids, target } = control;
      const part = { rule_ids: new Set(ids.map(coreRuleId)), part: target.collection, name: "", target };
      parts.push([core, { key: JSON.stringify([ids, target]), parts: [part] }]);
    }
  }
  return rules.length + parts.length + rulesets.length === 0 ? null : { phases: [], rulesets, rules, parts };
}
