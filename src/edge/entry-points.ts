import { compileRuleset } from "#rules/compile-ruleset.ts";
import type { PhaseName } from "#rules/phases.ts";
import type { RateCounters } from "#rules/rate-limit/counter-table.ts";
import type { CompiledRuleset } from "#rules/types.ts";
import type { RulesetEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { RuleLists } from "./rule-lists.ts";

/** Compiled entry point rulesets by owner and phase. */
export interface EntryPoints {
  put(id: string, entry: RulesetEntry): void;
  remove(id: string, entry: RulesetEntry): void;
  clear(): void;
  /** Goes up with each change, so that lists made from `collect` can be kept until then. */
  readonly version: number;
  /** The entry points of a phase for a zone: the account's before the zone's (waf.md). */
  collect(zone: ZoneEntry, phase: PhaseName): readonly CompiledRuleset[];
}

/** Told of each rule that did not compile and is not run: one bad rule must not take its zone down. */
export type RuleLeftOut = (rule: { readonly ruleset_id: string; readonly rule_id: string; readonly message: string }) => void;

export function createEntryPoints(ruleLeftOut: RuleLeftOut, lists: Pick<RuleLists, "of">, counters?: RateCounters): EntryPoints {
  const byOwner = new Map<string, Map<string, CompiledRuleset>>();
  const customs = new Map<string, CompiledRuleset>();
  let version = 0;
  return {
    put: (id, entry) => {
      const definition = { id, phase: entry.phase, version: entry.version, rules: entry.rules };
      const compiled = compileRuleset(definition, {
        custom: (customId) => customs.get(customId),
        lists: lists.of(entry.account_id ?? entry.owner_id),
        ...(counters === undefined ? {} : { counters }),
      });
      for (const problem of compiled.problems) ruleLeftOut({ ruleset_id: id, ...problem });
      version++;
      // A custom ruleset runs only where an entry point executes it, which looks it up each time.
      if (entry.kind === "custom") return void customs.set(id, compiled);
      const phases = byOwner.get(entry.owner_id);
      if (phases === undefined) byOwner.set(entry.owner_id, new Map([[entry.phase, compiled]]));
      else phases.set(entry.phase, compiled);
    },
    remove: (id, entry) => {
      version++;
      customs.delete(id);
      const phases = byOwner.get(entry.owner_id);
      if (phases?.get(entry.phase)?.id !== id) return;
      phases.delete(entry.phase);
      if (phases.size === 0) byOwner.delete(entry.owner_id);
    },
    clear: () => {
      byOwner.clear();
      customs.clear();
      version++;
    },
    get version() {
      return version;
    },
    collect: (zone, phase) => [zone.account_id, zone.id].flatMap((owner) => byOwner.get(owner)?.get(phase) ?? []),
  };
}
