import { reservedBy } from "#kernel/net/hostname.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isHeldByOthers } from "#control/hostnames/hold.ts";
import { hasNoParent } from "#model/zones/zone-name.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import { PENDING_ZONES_MAX, QUARANTINE_MS } from "#model/zones/zone-states.ts";
import { FORMER_ZONES_MAX, type FormerZoneRow, formerZones, wereDeletedSince } from "#store/zones/former-zones.ts";
import type { Unit } from "#store/database/store.ts";
import { pendingCount, usualPair, zonesBelow, zonesUp } from "#store/zones/zone-claimants.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { listState } from "#store/queries/list-pages.ts";
import { latestSerial } from "#wire/dns/serial.ts";
import type { OwnershipPolicy } from "./policy.ts";
import { choosePair, type Pair } from "./pairs.ts";

type Db = Unit["db"];

/** The initial state of a new zone. */
export interface Admission {
  readonly status: "active" | "pending";
  readonly proof: ZoneProof;
  /** Null if no pair is available by which a delegation could prove the zone. */
  readonly pair: Pair | null;
  /** The displayed name servers of the zone. */
  readonly shown: readonly string[];
  /** The highest serial that a zone of the name ever had, or null. */
  readonly serialSeen: number | null;
  /** Whether the public parent can prove the ownership; otherwise only a hosted zone above or the operator can. */
  readonly asksParent: boolean;
}

export interface AdmissionDeps {
  readonly policy: OwnershipPolicy;
  readonly pool: readonly Pair[];
}

export interface Claim {
  readonly name: string;
  readonly accountId: string;
  /** The parent's current name servers for the name. */
  readonly parentNames: readonly string[];
  readonly nowMs: number;
}

interface AdmissionContext extends Claim {
  readonly db: Db;
  readonly policy: OwnershipPolicy;
  readonly isTrusted: boolean;
  /** Zones of any account at or above the name, nearest first, and those below. */
  readonly up: readonly ZoneRow[];
  readonly below: readonly ZoneRow[];
  readonly former: readonly FormerZoneRow[];
}

interface Verdict {
  readonly status: Admission["status"];
  readonly proof: ZoneProof;
  readonly pair?: Pair;
}

/** Returns a verdict, throws to refuse the name, or returns null to continue with the next rule. */
type Rule = (scene: AdmissionContext) => Verdict | null | Promise<Verdict | null>;

const PENDING: Verdict = { status: "pending", proof: "none" };
const active = (proof: ZoneProof): Verdict => ({ status: "active", proof });

const isOthers = ({ accountId }: Claim, zone: { readonly account_id: string }): boolean => zone.account_id !== accountId;
const ofName = ({ name, up }: AdmissionContext): readonly ZoneRow[] => up.filter((zone) => zone.name === name);
const isActiveElsewhere = (scene: AdmissionContext): boolean =>
  ofName(scene).some((zone) => isOthers(scene, zone) && zone.status === "active");
const inQuarantine = ({ nowMs }: Claim, row: FormerZoneRow): boolean => row.proof !== "none" && nowMs - row.deleted_ms < QUARANTINE_MS;

/** The nearest active zone above; with `proved`, the nearest that is also proved. */
export const nearestAbove = (zones: readonly ZoneRow[], name: string, proved: boolean): ZoneRow | undefined =>
  zones.find((zone) => zone.name !== name && zone.status === "active" && !(proved && zone.proof === "none"));

const isConsentedByOwnZone = (scene: AdmissionContext): boolean => nearestAbove(scene.up, scene.name, true)?.account_id === scene.accountId;

/** In order; the first verdict counts. */
const BEFORE: readonly Rule[] = [
  (scene) => {
    if (ofName(scene).some((zone) => !isOthers(scene, zone))) throw alreadyExists(scene.name);
    return null;
  },
  ({ isTrusted, policy, name }) => {
    if (!isTrusted && policy.isReserved(name)) throw new PlatformError("zone_name_reserved", { source: "/name" });
    return null;
  },
  ({ isTrusted, name }) => {
    const standard = isTrusted ? undefined : reservedBy(name);
    if (standard === undefined) return null;
    const message = `${standard} keeps ${name} out of the DNS: only accounts in zones.trusted_accounts may use the name.`;
    throw new PlatformError("zone_name_reserved", { message, source: "/name" });
  },
  async ({ db, name, accountId, nowMs }) => {
    if (await isHeldByOthers(db, name, accountId, nowMs)) throw new PlatformError("zone_held", { source: "/name" });
    return null;
  },
];

const RULES: Readonly<Record<"at_once" | "delegation", readonly Rule[]>> = {
  at_once: [
    (scene) => {
      if (isActiveElsewhere(scene)) throw alreadyExists(scene.name);
      if (scene.isTrusted) return active("operator");
      const above = nearestAbove(scene.up, scene.name, false);
      if (above !== undefined && isOthers(scene, above)) throw new PlatformError("zone_below_anothers", { source: "/name" });
      if (scene.below.some((zone) => isOthers(scene, zone) && zone.status === "active"))
        throw new PlatformError("zone_above_anothers", { source: "/name" });
      return null;
    },
    (scene) => (scene.former.some((row) => isOthers(scene, row) && inQuarantine(scene, row)) ? PENDING : null),
    (scene) => (isConsentedByOwnZone(scene) ? active("consent") : null),
    ({ policy }) => active(policy.vouchesForAll ? "operator" : "none"),
  ],
  delegation: [
    (scene) => (isActiveElsewhere(scene) ? PENDING : null),
    ({ isTrusted }) => (isTrusted ? active("operator") : null),
    (scene) => {
      const own = scene.former.find((row) => !isOthers(scene, row) && inQuarantine(scene, row));
      return own === undefined ? null : { ...active(own.proof as ZoneProof), pair: JSON.parse(own.pair) as Pair };
    },
    (scene) => (isConsentedByOwnZone(scene) ? active("consent") : null),
    () => PENDING,
  ],
};

/**
 * Whether the zone is active at once, and with which pair. Throws `zone_exists`, `zone_name_reserved`, `zone_held`,
 * `zone_below_anothers`, `zone_above_anothers`, `zones_pending_max`, `zones_max`.
 */
export async function admit({ policy, pool }: AdmissionDeps, db: Db, claim: Claim): Promise<Admission> {
  const { name, accountId, nowMs } = claim;
  const scene: AdmissionContext = {
    ...{ ...claim, db, policy },
    isTrusted: await policy.isTrusted(db, accountId),
    up: await zonesUp(db, name),
    below: await zonesBelow(db, name),
    former: await formerZones(db, name),
  };
  const verdict = await firstVerdict([...BEFORE, ...RULES[await policy.mode(db)]], scene);
  if (!scene.isTrusted && (await listState(db, "zones", [accountId])).rows >= policy.zonesMax)
    throw new PlatformError("zones_max", { message: `The account has too many zones: at most ${policy.zonesMax} are allowed.` });
  if (!scene.isTrusted && (await wereDeletedSince(db, accountId, nowMs - QUARANTINE_MS)))
    throw new PlatformError("zones_max", {
      message: `The account has deleted ${FORMER_ZONES_MAX} zones within seven days, which is the limit.`,
    });
  if (verdict.status === "pending" && (await pendingCount(db, accountId)) >= PENDING_ZONES_MAX)
    throw new PlatformError("zones_pending_max");
  const near = [...scene.up, ...scene.below].filter((zone) => isOthers(scene, zone));
  const quarantined = scene.former.filter((row) => isOthers(scene, row) && nowMs - row.deleted_ms < QUARANTINE_MS);
  const taken = new Set([...near, ...quarantined].flatMap(({ pair }) => JSON.parse(pair) as string[]));
  for (const server of claim.parentNames) taken.add(server);
  const usual = await usualPair(db, accountId);
  const pair = verdict.pair ?? choosePair(pool, accountId, usual, taken);
  return {
    ...verdict,
    pair,
    shown: pair ?? pool[0] ?? [],
    serialSeen: latestSerial([...scene.former, ...ofName(scene)].map(({ serial }) => serial)),
    asksParent: !hasNoParent(name) && nearestAbove(scene.up, name, true) === undefined,
  };
}

async function firstVerdict(rules: readonly Rule[], scene: AdmissionContext): Promise<Verdict> {
  for (const rule of rules) {
    const verdict = await rule(scene);
    if (verdict !== null) return verdict;
  }
  throw new Error("the last rule of admission has no verdict");
}

const alreadyExists = (name: string): PlatformError =>
  new PlatformError("zone_exists", { message: `${name} already exists.`, source: "/name" });
