import { compileDetectors, type CompiledDetectors } from "#rules/detectors/compiled.ts";
import { customDetector } from "#rules/detectors/custom.ts";
import { DETECTORS_BY_ID } from "#rules/detectors/table.ts";
import { isSwitchedOn } from "#rules/managed/own-patterns.ts";
import { MANAGED_RULESETS, unpackRules } from "#rules/managed/rulesets.ts";
import type { DetectionEntry } from "#snapshot/entries.ts";
import type { ScanSubject } from "./job.ts";

/** What the owner of a zone or of an account has said, where that is anything. Entries are frozen: a change brings another one. */
export type Policies = (id: string) => DetectionEntry | undefined;

type Subject = Pick<ScanSubject, "zone_id" | "account_id" | "ruleset_id" | "enabled" | "own">;
type Cache = Map<string, CompiledDetectors>;

const COMPILED_MAX = 64;

const NOTHING: DetectionEntry = { allowed: [], patterns: [] };

/** Detectors of each combination of overrides that is in use, with the zone's and the account's own; the oldest combination gives way. */
export function createCompiledCache(policies: Policies): (subject: Subject) => CompiledDetectors {
  const owned = new WeakMap<DetectionEntry, WeakMap<DetectionEntry, Cache>>();
  const cacheOf = (zone: DetectionEntry, account: DetectionEntry): Cache => {
    const ofZone = owned.get(zone) ?? new WeakMap<DetectionEntry, Cache>();
    owned.set(zone, ofZone);
    const own: Cache = ofZone.get(account) ?? new Map<string, CompiledDetectors>();
    ofZone.set(account, own);
    return own;
  };
  const withPatterns = (id: string): DetectionEntry => {
    const entry = policies(id);
    return entry === undefined || entry.patterns.length === 0 ? NOTHING : entry;
  };
  return (subject) => {
    const [zone, account] = [withPatterns(subject.zone_id), withPatterns(subject.account_id)];
    const cache = cacheOf(zone, account);
    const key = `${subject.ruleset_id} ${subject.enabled} ${subject.own}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const own = [...zone.patterns, ...account.patterns].filter((pattern) => isSwitchedOn(subject.own, pattern));
    const made = compileDetectors([...own.map(customDetector), ...managedDetectors(subject)]);
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
