import { promises as dns } from "node:dns";
import { parentDsOf } from "#control/dns/dnssec/dnssec-watch.ts";
import { loadDnssec } from "#control/dns/dnssec/stored-dnssec.ts";
import type { ResolverAddress } from "#control/dns/scan/query-resolver.ts";
import type { CheckFacts } from "#model/zones/zone-check.ts";
import { hasNoParent } from "#model/zones/zone-name.ts";
import { QUARANTINE_MS } from "#model/zones/zone-states.ts";
import { formerZones } from "#store/zones/former-zones.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { delegationOf } from "#store/zones/zone-delegations.ts";
import { activeZonesOfName, serversOfOthers, zonesUp } from "#store/zones/zone-claimants.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { nearestAbove } from "./admission.ts";
import type { QueryParentServers, ParentView } from "./parent-view.ts";
import { verificationNames } from "./pending-reason.ts";
import type { OwnershipPolicy } from "./policy.ts";

type Db = Unit["db"];

/** Findings of a check; `failed`: why the parent could not be checked, if it had to be. */
export interface ZoneEvidence {
  readonly facts: CheckFacts;
  readonly parent: ParentView | null;
  readonly failed: string | null;
}

/** TXT records of a name, each with its strings joined; empty if the lookup fails. Never rejects. */
export type LookUpTexts = (name: string) => Promise<readonly string[]>;

const TEXT_TIMEOUT_MS = 1_500;
const TEXTS_MAX = 50;

export function createLookUpTexts(resolvers: readonly ResolverAddress[]): LookUpTexts {
  return async (name) => {
    try {
      const resolver = new dns.Resolver({ timeout: TEXT_TIMEOUT_MS, tries: 2 });
      if (resolvers.length > 0) resolver.setServers(resolvers);
      return (await resolver.resolveTxt(name)).slice(0, TEXTS_MAX).map((strings) => strings.join(""));
    } catch {
      return [];
    }
  };
}

export interface CheckZoneOwnershipDeps {
  readonly store: Store;
  readonly policy: OwnershipPolicy;
  readonly parentServers: QueryParentServers;
  readonly texts: LookUpTexts;
  readonly vendorPrefix: string;
}

const BUDGET_MS = 5_000;

/**
 * Checks everything that may prove the ownership of the zone: the zone above if it is hosted here, otherwise the public
 * parent and the name itself.
 */
export async function checkZoneOwnership(
  deps: CheckZoneOwnershipDeps,
  zone: ZoneRow,
  sinceMs: number,
  nowMs: number,
): Promise<ZoneEvidence> {
  const { store, policy } = deps;
  const db = store.read;
  const mode = await policy.mode(db);
  const pair = zone.type === "partial" ? [] : (JSON.parse(zone.pair) as string[]);
  const others = await serversOfOthers(db, zone);
  const isPairShared = pair.some((name) => others.has(name));
  const nothing = { parentNames: null, pair, isPairShared, proof: null, isRefusedAbove: false, isFree: false } as const;
  const isFree = mode === "at_once" && (await isUnclaimed(db, zone, nowMs));
  const above = nearestAbove(await zonesUp(db, zone.name), zone.name, true);
  if (above !== undefined) {
    const consents = above.account_id === zone.account_id || (await hasConsent(db, above, zone, sinceMs));
    return { facts: { ...nothing, proof: consents ? "consent" : null, isRefusedAbove: !consents, isFree }, parent: null, failed: null };
  }
  if (hasNoParent(zone.name) || mode === "at_once") return { facts: { ...nothing, isFree }, parent: null, failed: null };
  const [view, isTextShown] = await Promise.all([deps.parentServers(zone.name, BUDGET_MS), showsKey(deps, zone)]);
  const parent = "reason" in view ? null : view;
  const names = parent?.nameServers ?? null;
  const isOthers = names !== null && (await namesPairOfOther(db, zone, names));
  const isSigned = parent !== null && (await hasDsOfOwnKey(db, zone, parent, sinceMs));
  return {
    facts: { ...nothing, isPairShared: isPairShared || isOthers, parentNames: names, proof: isSigned ? "ds" : isTextShown ? "txt" : null },
    parent,
    failed: "reason" in view ? view.reason : null,
  };
}

/**
 * Whether the parent delegates to the pair of another active zone of the name; then the delegation belongs to that zone,
 * whatever other servers it has.
 */
async function namesPairOfOther(db: Db, zone: ZoneRow, names: readonly string[]): Promise<boolean> {
  const serving = (await activeZonesOfName(db, zone.name)).find(({ id, proof }) => id !== zone.id && proof === "delegation");
  const pair = serving === undefined ? [] : (JSON.parse(serving.pair) as string[]);
  return pair.length > 0 && pair.every((name) => names.includes(name));
}

/**
 * Whether the hosted zone above has NS records for the zone's pair; while the zone is not active, only records created
 * since it entered its status count.
 */
async function hasConsent(db: Db, above: ZoneRow, zone: ZoneRow, sinceMs: number): Promise<boolean> {
  const pair = JSON.parse(zone.pair) as string[];
  const records = await delegationOf(db, above.id, zone.name);
  const since = zone.status === "active" ? 0 : sinceMs;
  const named = new Set(records.filter(({ created_on }) => Date.parse(created_on) >= since).map(({ content }) => content.toLowerCase()));
  return pair.length > 0 && pair.every((name) => named.has(name));
}

async function isUnclaimed(db: Db, zone: ZoneRow, nowMs: number): Promise<boolean> {
  const others = (await activeZonesOfName(db, zone.name)).filter(({ id }) => id !== zone.id);
  const former = (await formerZones(db, zone.name)).filter(({ account_id, proof }) => account_id !== zone.account_id && proof !== "none");
  return others.length === 0 && former.every(({ deleted_ms }) => nowMs - deleted_ms >= QUARANTINE_MS);
}

async function showsKey({ texts, vendorPrefix }: CheckZoneOwnershipDeps, zone: ZoneRow): Promise<boolean> {
  if (zone.verification_key === "") return false;
  const found = await Promise.all(verificationNames(zone.name, vendorPrefix).map((name) => texts(name)));
  return found.flat().includes(zone.verification_key);
}

/**
 * Whether the parent has a DS of the zone's key; while the zone is not active, only keys created since it entered its
 * status prove anything.
 */
async function hasDsOfOwnKey(db: Db, zone: ZoneRow, parent: ParentView, sinceMs: number): Promise<boolean> {
  const stored = await loadDnssec(db, zone.id);
  if (stored === undefined || parent.ds.length === 0) return false;
  const since = zone.status === "active" ? 0 : sinceMs;
  const fresh = stored.keys.filter(({ created_on }) => Date.parse(created_on) >= since);
  return parentDsOf(zone.name, { ...stored, keys: fresh }, { records: parent.ds, ttl: 0 }).named.length > 0;
}
