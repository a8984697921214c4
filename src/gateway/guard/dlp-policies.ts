import { type CompiledDetectors, compileDetectors } from "#rules/detectors/engine/compiled.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { DlpProfiles } from "./dlp-profiles.ts";
import { watchDetectors, type WatchedDetectors } from "./incremental-scanner.ts";

export type Policy = NonNullable<GatewayEntry["dlp"]>[number];
export type Check = Policy["check"][number];
export type Action = Policy["action"];

/** Policies of one action and one direction of the traffic, with all their detectors together. */
export interface Side {
  readonly policies: readonly Policy[];
  /** Detectors of each of the policies' profiles. */
  readonly profiles: ReadonlyMap<string, readonly Detector[]>;
  readonly compiled: CompiledDetectors;
  readonly watched: WatchedDetectors;
}

export type Sides = { readonly [K in Check]: { readonly [A in Action]: Side | undefined } };

/** The sides of a gateway's policies, and the detectors of each profile in them. */
interface CompiledPolicies {
  readonly sides: Sides;
  readonly used: ReadonlyMap<string, readonly Detector[]>;
}

const NO_DETECTORS: readonly Detector[] = [];
const COMPILED_MAX = 256;

/** The sides of the policies of an account's gateway, compiled once until a profile in them changes. */
export function createPolicySides(profiles: DlpProfiles): (accountId: string, policies: readonly Policy[]) => Sides {
  const compiled = new Map<string, CompiledPolicies>();
  return (accountId, policies) => {
    const isOwn = policies.some((policy) => !policy.profiles.every((id) => profiles.isPredefined(id)));
    const key = `${isOwn ? accountId : ""}${JSON.stringify(policies)}`;
    const known = compiled.get(key);
    const detectorsOf = (id: string): readonly Detector[] => profiles.detectorsOf(accountId, id) ?? NO_DETECTORS;
    if (known !== undefined && isCurrent(known, detectorsOf)) return known.sides;
    const used = new Map(policies.flatMap((policy) => policy.profiles.map((id) => [id, detectorsOf(id)])));
    const sides = sidesWith(policies, used);
    compiled.delete(key);
    const [oldest] = compiled.size < COMPILED_MAX ? [] : compiled.keys();
    if (oldest !== undefined) compiled.delete(oldest);
    compiled.set(key, { sides, used });
    return sides;
  };
}

/** A profile that changes brings a new list. */
function isCurrent({ used }: CompiledPolicies, detectorsOf: (profileId: string) => readonly Detector[]): boolean {
  for (const [id, detectors] of used) if (detectorsOf(id) !== detectors) return false;
  return true;
}

/** Most policies check requests and answers with the same profiles, which are compiled once. */
function sidesWith(policies: readonly Policy[], used: CompiledPolicies["used"]): Sides {
  const known = new Map<string, Pick<Side, "compiled" | "watched">>();
  const side = (check: Check, action: Action): Side | undefined => {
    const own = policies.filter((policy) => policy.check.includes(check) && policy.action === action);
    const ids = [...new Set(own.flatMap((policy) => policy.profiles))];
    const profiles = new Map(ids.map((id) => [id, used.get(id) ?? NO_DETECTORS]));
    const detectors = [...new Set(Array.from(profiles.values()).flat())];
    if (detectors.length === 0) return undefined;
    const key = ids.join(" ");
    const compiled = known.get(key) ?? compiledFor(detectors);
    known.set(key, compiled);
    return { policies: own, profiles, ...compiled };
  };
  const sides = (check: Check) => ({ BLOCK: side(check, "BLOCK"), FLAG: side(check, "FLAG") });
  return { REQUEST: sides("REQUEST"), RESPONSE: sides("RESPONSE") };
}

function compiledFor(detectors: readonly Detector[]): Pick<Side, "compiled" | "watched"> {
  const compiled = compileDetectors(detectors);
  return { compiled, watched: watchDetectors(detectors, compiled) };
}
