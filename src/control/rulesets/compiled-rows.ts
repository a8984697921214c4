import type { Slices } from "#kernel/process/slices.ts";
import { compilingRuleset } from "#rules/compile/compile-ruleset.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import { ruleMaterialVersion } from "#rules/managed/rule-material.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";

/** Lists and custom rulesets that a ruleset's rules may refer to, for one use. */
export interface RowContext {
  readonly lists: NamedLists;
  custom(id: string): CompiledRuleset | undefined;
}

/**
 * Compiles saved rulesets as the edge does. A version is compiled once, in slices, because this thread also serves
 * requests; the newest are cached.
 */
export interface CompiledRows {
  /** Valid until the next call: its references are resolved in these surroundings. */
  compile(row: RulesetRow, around: RowContext): Promise<CompiledRuleset>;
  /** Call before running rules, in the same tick. */
  lookAround(around: RowContext): void;
}

/** Limit of rules in the cache. */
const RULES_MAX = 10_000;

export function createCompiledRows(slices: Slices): CompiledRows {
  const remembered = new Map<string, CompiledRuleset>();
  let rules = 0;
  let current: RowContext = { lists: { find: () => undefined }, custom: () => undefined };

  const remember = (key: string, compiled: CompiledRuleset): void => {
    remembered.set(key, compiled);
    rules += compiled.rules.length + 1;
    for (const [oldest, { rules: held }] of remembered) {
      if (rules <= RULES_MAX || oldest === key) break;
      remembered.delete(oldest);
      rules -= held.length + 1;
    }
  };

  return {
    lookAround: (around) => {
      current = around;
    },
    compile: async (row, around) => {
      // Compiling checks the kinds of the lists, so they are part of the key.
      const named = [...new Set([...row.rules.matchAll(/\$([a-z0-9_.]{1,100})/g)].map((match) => match[1] ?? ""))];
      const key = JSON.stringify([row.id, row.version, ruleMaterialVersion(), named.map((name) => around.lists.find(name)?.kind ?? "")]);
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const work = compilingRuleset(
        { id: row.id, phase: row.phase, version: String(row.version), rules: JSON.parse(row.rules) as RuleDefinition[] },
        {
          custom: (id) => current.custom(id),
          lists: {
            find: (name) => {
              const list = around.lists.find(name);
              return list && { kind: list.kind, has: (value) => current.lists.find(name)?.has(value) === true };
            },
          },
        },
      );
      const compiled = await slices.run(work);
      remember(key, compiled);
      return compiled;
    },
  };
}
