import { compileDetectors, type CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import { customDetectors } from "#rules/detectors/engine/custom.ts";
import { DETECTORS_BY_ID } from "#rules/detectors/catalog/table.ts";
import { isSwitchedOn } from "#rules/managed/own-patterns.ts";
import { MANAGED_RULESETS, unpackRules } from "#rules/managed/rulesets.ts";
import type { DetectionEntry } from "#snapshot/entries.ts";
import type { ScanSubject } from "./scan-plan.ts";

/** The settings of the owner of a zone or an account, if any. Entries are frozen: a change brings a new object. */
export type Policies = (id: string) => DetectionEntry | undefined;

type Subject = Pick<ScanSubject, "zone_id" | "account_id" | "ruleset_id" | "enabled" | "own">;

/** Each takes 2.5 MB, and an account may have its own patterns in any number of zones. */
const COMPILED_MAX = 128;

const NOTHING: DetectionEntry = { allowed: [], patterns: [] };

/**
 * Compiled detectors for each combination in use of overrides and patterns, including the zone's and the account's own.
 * Evicts the least recently used one.
 */
export function createCompiledCache(policies: Policies, compiledMax = COMPILED_MAX): (subject: Subject) => CompiledDetectors {
  const numbers = new WeakMap<DetectionEntry, number>();
  let lastNumber = 0;
  const numberOf = (entry: DetectionEntry): number => {
    const known = numbers.get(entry);
    if (known !== undefined) return known;
    numbers.set(entry, ++lastNumber);
    return lastNumber;
  };
  const withPatterns = (id: string): DetectionEntry => {
    const entry = policies(id);
    return entry === undefined || entry.patterns.length === 0 ? NOTHING : entry;
  };
  /** In order of last use. */
  const compiled = new Map<string, CompiledDetectors>();
  let lastKey = "";
  return (subject) => {
    const [zone, account] = [withPatterns(subject.zone_id), withPatterns(subject.account_id)];
    const key = `${numberOf(zone)} ${numberOf(account)} ${subject.ruleset_id} ${subject.enabled} ${subject.own}`;
    const known = compiled.get(key);
    // Most bodies come right after others with the same detectors.
    if (known !== undefined && key === lastKey) return known;
    lastKey = key;
    compiled.delete(key);
    const detectors = known ?? compileWith([...zone.patterns, ...account.patterns], subject);
    compiled.set(key, detectors);
    const [eldest] = compiled.keys();
    if (compiled.size > compiledMax && eldest !== undefined) compiled.delete(eldest);
    return detectors;
  };
}

function compileWith(patterns: DetectionEntry["patterns"], subject: Subject): CompiledDetectors {
  const own = patterns.filter((pattern) => isSwitchedOn(subject.own, pattern));
  return compileDetectors([...customDetectors(own), ...managedDetectors(subject)]);
}

function managedDetectors({ ruleset_id, enabled }: Subject) {
  const ruleset = MANAGED_RULESETS.get(ruleset_id);
  const rules = ruleset === undefined ? [] : unpackRules(ruleset, enabled);
  return rules.flatMap((rule) => DETECTORS_BY_ID.get(rule.detector) ?? []);
}
