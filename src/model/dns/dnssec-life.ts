import type { DnssecStatus } from "./dnssec-status.ts";

/**
 * State of a zone's DNSSEC: the owner's wish, the keys, and the parent's DS set as last seen. Times are milliseconds
 * since the Unix epoch. All functions here are pure.
 */
export interface DnssecLife {
  readonly status: DnssecStatus;
  readonly status_since: number;
  readonly rollover: RolloverStage;
  readonly rollover_since: number;
  /** Ids, oldest first: one key, or two during a rollover. Never empty. */
  readonly keys: readonly string[];
  /** Keys to which the parent's DS set referred when it was last seen. */
  readonly ds_named: readonly string[];
  /** Since when this is so, according to checks with gaps of a few hours at most. */
  readonly ds_since: number;
  /** Seconds for which caches may keep a DS set: the largest TTL seen; 0 if none was seen. */
  readonly ds_ttl: number;
  /** When the parent was last checked; null before. */
  readonly looked_on: number | null;
}

/** Result of a check of the parent: the zone's keys to which its DS set refers, and the set's TTL in seconds. */
export interface ParentDs {
  readonly named: readonly string[];
  readonly ttl: number;
}

/** How long caches may keep this zone's data, and how long until all its servers agree. */
export interface ZoneTimes {
  readonly dnskey_ttl: number;
  /** The longest TTL of the zone's sets. */
  readonly zone_ttl: number;
  /** Seconds until every secondary has a change: refresh and retry of its SOA (RFC 7583 §3.2.1, Dprp). */
  readonly propagation: number;
}

export const ROLLOVER_STAGES = ["none", "publish", "submit", "retire"] as const;
export type RolloverStage = (typeof ROLLOVER_STAGES)[number];

interface Stage {
  /** The key that signs the zone's records. Every key signs the DNSKEY set. */
  readonly signs: "oldest" | "newest";
  /** The key that CDS and CDNSKEY publish for the parent. */
  readonly asks: "oldest" | "newest";
  readonly next: RolloverStage;
  /** Whether the stage is complete, given a check of the parent that has just succeeded. */
  over(life: DnssecLife, times: ZoneTimes, now: number): boolean;
}

/** Parents have several servers too (RFC 7583 §3.3.1, DprpP), and resolvers cache a missing DS for hours (RFC 2308 §5). */
const PARENT_LAG_SECONDS = 3 * 3600;
/** Between two checks with the same result and at most this gap, the result is assumed to have held. */
const LOOK_GAP_SECONDS = 3 * 3600;
/** Upper limit of a DS set's TTL (the default limit of BIND's cache, the largest of any). */
const DS_TTL_MAX_SECONDS = 7 * 86_400;
/** Assumed TTL of a DS that was never seen: the value in the root and in most top-level domains. */
const DS_TTL_UNSEEN_SECONDS = 86_400;

/**
 * Rollover of a key that signs everything (RFC 6781 §4.1.3, RFC 7583 §3.3): the new key is published until all caches
 * have it, then the parent is asked for its DS, and once the DS exists the new key signs. The old key stays until no
 * cache has a signature or DS that needs it. At every moment, all cached parts fit together. A stage may last forever,
 * such as `submit` if the parent does not follow.
 */
export const ROLLOVER: Readonly<Record<RolloverStage, Stage>> = {
  none: { signs: "oldest", asks: "oldest", next: "none", over: () => false },
  publish: {
    signs: "oldest",
    asks: "oldest",
    next: "submit",
    over: (life, times, now) => now >= stageSince(life) + seconds(times.dnskey_ttl + times.propagation),
  },
  submit: { signs: "oldest", asks: "newest", next: "retire", over: namesNewest },
  retire: {
    signs: "newest",
    asks: "newest",
    next: "none",
    over: (life, times, now) =>
      namesNewest(life) &&
      // A parent that reads an outdated CDS from a secondary may switch back to the old key.
      now >= life.ds_since + seconds(rememberedFor(life) + times.propagation) &&
      now >= stageSince(life) + seconds(times.zone_ttl + times.propagation),
  },
};

const seconds = (count: number): number => count * 1000;

/** The fields that determine the role of each key. */
type Rolling = Pick<DnssecLife, "rollover" | "keys">;

const newest = (life: Rolling): string => life.keys.at(-1) as string;
const oldest = (life: Rolling): string => life.keys[0] as string;

/** After a clock jump, only the time that checks have covered since counts. */
const stageSince = (life: DnssecLife): number => Math.max(life.rollover_since, life.ds_since);

function namesNewest(life: DnssecLife): boolean {
  return life.ds_named.includes(newest(life));
}

/** Seconds after which no cache has a DS set that the parent has removed. */
const rememberedFor = (life: DnssecLife): number => (life.ds_ttl === 0 ? DS_TTL_UNSEEN_SECONDS : life.ds_ttl) + PARENT_LAG_SECONDS;

export const newLife = (key: string, now: number): DnssecLife => ({
  status: "disabled",
  status_since: now,
  rollover: "none",
  rollover_since: now,
  keys: [key],
  ds_named: [],
  ds_since: now,
  ds_ttl: 0,
  looked_on: null,
});

/** The key that signs the zone's records. */
export const signingKey = (life: Rolling): string => (ROLLOVER[life.rollover].signs === "oldest" ? oldest(life) : newest(life));

/** The key whose DS record belongs at the parent. */
export const keyForParent = (life: Rolling): string => (ROLLOVER[life.rollover].asks === "oldest" ? oldest(life) : newest(life));

/** The owner enables DNSSEC. The zone becomes active after another check of the parent. */
export const enabled = (life: DnssecLife, now: number): DnssecLife =>
  life.status === "disabled" || life.status === "pending-disabled" ? withStatus(life, "pending", now) : life;

/**
 * The owner disables DNSSEC; `seen` is a check of the parent made for this, null if it failed. Removing the keys while a
 * cache may have a DS makes the zone bogus, so it usually stays signed until the DS is removed and has expired from
 * caches. If the parent was never seen, the owner is trusted.
 */
export function disabled(life: DnssecLife, seen: ParentDs | null, now: number): DnssecLife {
  if (life.status === "disabled" || life.status === "pending-disabled") return life;
  const after = seen === null ? life : observed(life, seen, now);
  const unseen = seen === null && life.looked_on !== null;
  const remembered = after.ds_ttl > 0 && (after.ds_named.length > 0 || now < after.ds_since + seconds(rememberedFor(after)));
  if (!unseen && !remembered && life.status === "pending") return unsigned(after, now);
  // If the parent was not seen, a DS may have existed meanwhile, so the wait begins now.
  return withStatus({ ...after, ds_since: after.ds_named.length > 0 ? after.ds_since : now }, "pending-disabled", now);
}

/** Begins a rollover to the key; undefined if the zone's state does not allow one. */
export const rolled = (life: DnssecLife, key: string, now: number): DnssecLife | undefined =>
  mayRoll(life) ? { ...life, rollover: "publish", rollover_since: now, keys: [...life.keys, key] } : undefined;

/** Without a DS a rollover has no benefit, and its end could not be determined. */
export const mayRoll = (life: DnssecLife): boolean => life.status === "active" && life.rollover === "none";

/** The state after a check of the parent; null if the check failed. */
export function afterParentCheck(life: DnssecLife, seen: ParentDs | null, times: ZoneTimes, now: number): DnssecLife {
  if (life.status === "disabled" || seen === null) return life;
  const after = afterStatus(observed(life, seen, now), times, now);
  // The parent may apply an earlier CDS late, so no rollover proceeds while DNSSEC is being disabled.
  return after.status === "disabled" || after.status === "pending-disabled" ? after : afterStage(after, times, now);
}

function observed(life: DnssecLife, { named, ttl }: ParentDs, now: number): DnssecLife {
  const known = life.keys.filter((key) => named.includes(key));
  const same = known.length === life.ds_named.length && known.every((key) => life.ds_named.includes(key));
  const steady = life.looked_on !== null && now >= life.looked_on && now <= life.looked_on + seconds(LOOK_GAP_SECONDS);
  return {
    ...life,
    ds_named: known,
    ds_since: same && steady ? life.ds_since : now,
    ds_ttl: known.length === 0 ? life.ds_ttl : Math.max(life.ds_ttl, Math.min(ttl, DS_TTL_MAX_SECONDS), 1),
    looked_on: now,
    // A clock that was set back must not prolong a stage.
    status_since: Math.min(life.status_since, now),
    rollover_since: Math.min(life.rollover_since, now),
  };
}

/** Status changes that a check causes, in order; `enabled` and `disabled` are the owner's. */
const STATUS_STEPS: readonly {
  readonly from: DnssecStatus;
  readonly to: DnssecStatus;
  when(life: DnssecLife, times: ZoneTimes, now: number): boolean;
}[] = [
  { from: "pending", to: "active", when: (life) => life.ds_named.length > 0 },
  { from: "error", to: "active", when: (life) => life.ds_named.length > 0 },
  // Resolvers may disagree for a while about whether the DS exists.
  { from: "active", to: "error", when: (life, _times, now) => isGone(life, PARENT_LAG_SECONDS, now) },
  {
    from: "pending-disabled",
    to: "disabled",
    // A parent that reads an outdated CDS from a secondary may add a DS again, which is not seen at once.
    when: (life, times, now) => isGone(life, rememberedFor(life) + times.propagation, now),
  },
];

const isGone = (life: DnssecLife, forSeconds: number, now: number): boolean =>
  life.ds_named.length === 0 && now >= life.ds_since + seconds(forSeconds);

function afterStatus(life: DnssecLife, times: ZoneTimes, now: number): DnssecLife {
  const step = STATUS_STEPS.find(({ from, when }) => from === life.status && when(life, times, now));
  if (step === undefined) return life;
  return step.to === "disabled" ? unsigned(life, now) : withStatus(life, step.to, now);
}

function afterStage(life: DnssecLife, times: ZoneTimes, now: number): DnssecLife {
  const stage = ROLLOVER[life.rollover];
  if (!stage.over(life, times, now)) return life;
  const keys = stage.next === "none" ? [newest(life)] : life.keys;
  return { ...life, rollover: stage.next, rollover_since: now, keys, ds_named: life.ds_named.filter((key) => keys.includes(key)) };
}

const withStatus = (life: DnssecLife, status: DnssecStatus, now: number): DnssecLife => ({ ...life, status, status_since: now });

/** No cache trusts the zone's keys any more; one key is kept for the next time. */
const unsigned = (life: DnssecLife, now: number): DnssecLife => ({ ...newLife(signingKey(life), now) });
