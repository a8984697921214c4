import { compileDetectors, type CompiledDetectors } from "#rules/detectors/compiled.ts";
import { customDetector } from "#rules/detectors/custom.ts";
import { DETECTORS_BY_ID } from "#rules/detectors/table.ts";
import { MANAGED_RULESETS, unpackRules } from "#rules/managed/rulesets.ts";
import type { DetectionEntry } from "#snapshot/entries.ts";
import type { ScanSubject } from "./job.ts";

/** What a zone's owner has said, where that is anything. Entries are frozen: a change brings another one. */
export type ZonePolicies = (zoneId: string) => DetectionEntry | undefined;

type Subject = Pick<ScanSubject, "zone_id" | "ruleset_id" | "enabled">;

const COMPILED_MAX = 64;

/** Detectors of each combination of overrides that is in use, with the zone's own; the oldest combination gives way. */
export function createCompiledCache(policies: ZonePolicies): (subject: Subject) => CompiledDetectors {
  const shared = new Map<string, CompiledDetectors>();
  const owned = new WeakMap<DetectionEntry, Map<string, CompiledDetectors>>();
  const cacheOf = (entry: DetectionEntry | undefined): Map<string, CompiledDetectors> => {
    if (entry === undefined || entry.patterns.length === 0) return shared;
    const own = owned.get(entry) ?? new Map<string, CompiledDetectors>();
    owned.set(entry, own);
    return own;
  };
  return (subject) => {
    const entry = policies(subject.zone_id);
    const cache = cacheOf(entry);
    const key = `${subject.ruleset_id} ${subject.enabled}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const made = compileDetectors([...(entry?.patterns ?? []).map(customDetector), ...managedDetectors(subject)]);
    const [oldest] = cache.keys();
    if (cache.size >= COMPILED_MAX && oldest !== undefined) cache.delete(oldest);
    cache.set(key, made);
    return made;
  };
}

function managedDetectors({ ruleset_id, enabled }: Subject) {
  const ruleset = MANAGED_RULESETS.get(ruleset_id);
  const rules = ruleset === undefined ? [] : unpackRules(ruleset, enabled);
  return rules.flatMap((rule) => DETECTORS_BY_ID.get(rule.detector) ?? []);
}
