import { readsBody } from "#rules/compile/compile-ruleset.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { RedirectList } from "#rules/lists/redirect-list.ts";
import { type PhaseNumber, PHASES } from "#rules/phases.ts";
import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "#snapshot/edge-settings.ts";
import type { ZoneEntry } from "#snapshot/entries.ts";
import type { EntryPoints } from "./entry-points.ts";
import type { RuleLists } from "./rule-lists.ts";
import type { ZoneNames } from "./zone-names.ts";

/** A zone, as the edge uses it. */
export interface Zone {
  readonly entry: ZoneEntry;
  readonly settings: EdgeSettings;
  readonly names: ZoneNames;
  /** Compiled entry points of a phase, in the order in which they run. */
  rulesets(phase: PhaseNumber): readonly CompiledRuleset[];
  /** True if a rule of the phase reads the request's body. */
  readsBody(phase: PhaseNumber): boolean;
  /** A redirect list of the zone's account. */
  redirects(name: string): RedirectList | undefined;
}

interface PhaseRules {
  readonly rulesets: readonly CompiledRuleset[];
  readonly readsBody: boolean;
}

/** `entryPoints` and `lists` are those of all zones. */
export function createZone(entry: ZoneEntry, names: ZoneNames, entryPoints: EntryPoints, lists: RuleLists): Zone {
  const phases = PHASES.map((): PhaseRules | undefined => undefined);
  let version = entryPoints.version;
  const rulesOf = (phase: PhaseNumber): PhaseRules => {
    if (version !== entryPoints.version) {
      version = entryPoints.version;
      phases.fill(undefined);
    }
    const known = phases[phase];
    if (known !== undefined) return known;
    const rulesets = entryPoints.collect(entry, PHASES[phase]!.name);
    const rules = { rulesets, readsBody: readsBody(rulesets) };
    phases[phase] = rules;
    return rules;
  };
  return {
    entry,
    settings: entry.edge === undefined ? EDGE_SETTINGS_DEFAULTS : { ...EDGE_SETTINGS_DEFAULTS, ...entry.edge },
    names,
    rulesets: (phase) => rulesOf(phase).rulesets,
    readsBody: (phase) => rulesOf(phase).readsBody,
    redirects: (name) => lists.redirects(entry.account_id, name),
  };
}
