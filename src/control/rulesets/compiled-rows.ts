import type { Slices } from "#kernel/process/slices.ts";
import { compilingRuleset } from "#rules/compile/compile-ruleset.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import { ruleMaterialVersion } from "#rules/managed/rule-material.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";

/** What a ruleset's rules may lead to: as they are for one look at them. */
export interface RowSurroundings {
  readonly lists: NamedLists;
  custom(id: string): CompiledRuleset | undefined;
}

/**
 * Rulesets as they are saved, compiled as the edge compiles them. A version is compiled once, since this thread has others to
 * serve, and in slices: the newest are remembered.
 */
export interface CompiledRows {
  /** Good until the next call: what it leads to is asked of these surroundings. */
  compile(row: RulesetRow, around: RowSurroundings): Promise<CompiledRuleset>;
  /** To be called before rules run, in the same turn. */
  lookAround(around: RowSurroundings): void;
}

/** Of all that is remembered together. */
const RULES_MAX = 10_000;

export function createCompiledRows(slices: Slices): CompiledRows {
  const remembered = new Map<string, CompiledRuleset>();
  let rules = 0;
  let current: RowSurroundings = { lists: { find: () => undefined }, custom: () => undefined };

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
      // The kinds of the lists that it names are checked when it is compiled.
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
