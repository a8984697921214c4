import { compileRuleset } from "#rules/compile-ruleset.ts";
import type { PhaseName } from "#rules/phases.ts";
import { PREVIOUS_SLOT_NAMES, PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
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
  /** The entry points of a phase for a zone: the account's before the zone's (waf.md), with what it has of older firewalls beside its own. */
  collect(zone: ZoneEntry, phase: PhaseName): readonly CompiledRuleset[];
}

/** Told of each rule that did not compile and is not run: one bad rule must not take its zone down. */
export type RuleLeftOut = (rule: { readonly ruleset_id: string; readonly rule_id: string; readonly message: string }) => void;

export function createEntryPoints(ruleLeftOut: RuleLeftOut, lists: Pick<RuleLists, "of">, counters?: RateCounters): EntryPoints {
  const byOwner = new Map<string, Map<string, Placed>>();
  const customs = new Map<string, CompiledRuleset>();
  let version = 0;
  return {
    put: (id, entry) => {
      const rulesetId = entry.slot === undefined ? id : PREVIOUS_SLOTS[entry.slot].ruleset_id;
      const definition = { id: rulesetId, phase: entry.phase, version: entry.version, rules: entry.rules };
      const compiled = compileRuleset(definition, {
        custom: (customId) => customs.get(customId),
        lists: lists.of(entry.account_id ?? entry.owner_id),
        ...(counters === undefined ? {} : { counters }),
      });
      for (const problem of compiled.problems) ruleLeftOut({ ruleset_id: id, ...problem });
      version++;
      // A custom ruleset runs only where an entry point executes it, which looks it up each time.
      if (entry.kind === "custom") return void customs.set(id, compiled);
      const placed = { id, ruleset: compiled };
      const places = byOwner.get(entry.owner_id);
      if (places === undefined) byOwner.set(entry.owner_id, new Map([[placeOf(entry), placed]]));
      else places.set(placeOf(entry), placed);
    },
    remove: (id, entry) => {
      version++;
      customs.delete(id);
      const places = byOwner.get(entry.owner_id);
      if (places?.get(placeOf(entry))?.id !== id) return;
      places.delete(placeOf(entry));
      if (places.size === 0) byOwner.delete(entry.owner_id);
    },
    clear: () => {
      byOwner.clear();
      customs.clear();
      version++;
    },
    get version() {
      return version;
    },
    collect: (zone, phase) => {
      const own = byOwner.get(zone.id);
      const slots = (runs: "before" | "after"): (Placed | undefined)[] => slotsOf(phase, runs).map((slot) => own?.get(slot));
      const placed = [byOwner.get(zone.account_id)?.get(phase), ...slots("before"), own?.get(phase), ...slots("after")];
      return placed.flatMap((entryPoint) => entryPoint?.ruleset ?? []);
    },
  };
}

interface Placed {
  /** Of the entry. */
  readonly id: string;
  readonly ruleset: CompiledRuleset;
}

/** Phases and slots have no name in common. */
const placeOf = ({ phase, slot }: RulesetEntry): string => slot ?? phase;

const slotsOf = (phase: PhaseName, runs: "before" | "after"): readonly string[] =>
  PREVIOUS_SLOT_NAMES.filter((name) => PREVIOUS_SLOTS[name].phase === phase && PREVIOUS_SLOTS[name].runs === runs);
