import type { DnssecStatus } from "./dnssec-status.ts";

/**
 * How far a zone's DNSSEC has come: what its owner wants, which keys it has, and what the parent was last seen to
 * say. Times are milliseconds since the Unix epoch. Everything here is a pure function of this and of the time.
 */
export interface DnssecLife {
  readonly status: DnssecStatus;
  readonly status_since: number;
  readonly rollover: RolloverStage;
  readonly rollover_since: number;
  /** Ids, oldest first: one key, two while one takes over from the other. Never empty. */
  readonly keys: readonly string[];
  /** Those of the keys that the parent's DS set named when it was last seen. */
  readonly ds_named: readonly string[];
  /** Since when that is so, as looks have shown that were never further apart than hours. */
  readonly ds_since: number;
  /** Seconds for which others may remember a DS set, the largest seen; 0 while none was. */
  readonly ds_ttl: number;
  /** When the parent was last seen; null before. */
  readonly looked_on: number | null;
}

/** What a look at the parent found: the zone's own keys that its DS set names, and the set's TTL in seconds. */
export interface ParentSeen {
  readonly named: readonly string[];
  readonly ttl: number;
}

/** How long caches may hold what this zone said, and how long until all its servers say the same. */
export interface ZoneTimes {
  readonly dnskey_ttl: number;
  /** The longest TTL of any of its sets. */
  readonly zone_ttl: number;
  /** Seconds until every secondary has a change: refresh and retry of its SOA (RFC 7583 §3.2.1, Dprp). */
  readonly propagation: number;
}

export const ROLLOVER_STAGES = ["none", "publish", "submit", "retire"] as const;
export type RolloverStage = (typeof ROLLOVER_STAGES)[number];

interface Stage {
  /** Which of the zone's keys signs its records. Every key signs the keys. */
  readonly signs: "oldest" | "newest";
  /** Which of them CDS and CDNSKEY ask the parent to name. */
  readonly asks: "oldest" | "newest";
  readonly next: RolloverStage;
  /** Whether the stage is over, as of a look at the parent that has just succeeded. */
  over(life: DnssecLife, times: ZoneTimes, now: number): boolean;
}

/** Parents have several servers as well (RFC 7583 §3.3.1, DprpP), and resolvers remember for hours that there was no DS (RFC 2308 §5). */
const PARENT_LAG_SECONDS = 3 * 3600;
/** What two looks agree on held between them as well where no more time lies between them. */
const LOOK_GAP_SECONDS = 3 * 3600;
/** A DS set is remembered for no longer than this, whatever its TTL says (the default limit of BIND's cache, the largest of any). */
const DS_TTL_MAX_SECONDS = 7 * 86_400;
/** What is assumed of a DS that was never seen: the TTL it has in the root and in most top-level domains. */
const DS_TTL_UNSEEN_SECONDS = 86_400;

/**
 * The rollover of a key that signs everything (RFC 6781 §4.1.3, RFC 7583 §3.3): the new key is published until
 * everybody knows it, then the parent is asked to name it, and only when it does, the new key signs. The old one stays
 * until nobody remembers a signature or a DS that needs it. At no moment does a cache hold a part that the others do
 * not fit. Each stage may last for ever, as `submit` does where the parent does not follow.
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
      // A parent that has read an old CDS from a secondary may once more name the old key.
      now >= life.ds_since + seconds(rememberedFor(life) + times.propagation) &&
      now >= stageSince(life) + seconds(times.zone_ttl + times.propagation),
  },
};

const seconds = (count: number): number => count * 1000;

/** As much of a life as says which key does what. */
type Rolling = Pick<DnssecLife, "rollover" | "keys">;

const newest = (life: Rolling): string => life.keys.at(-1) as string;
const oldest = (life: Rolling): string => life.keys[0] as string;

/** Of a clock that has jumped, only the time counts that looks have filled since. */
const stageSince = (life: DnssecLife): number => Math.max(life.rollover_since, life.ds_since);

function namesNewest(life: DnssecLife): boolean {
  return life.ds_named.includes(newest(life));
}

/** Seconds after which nobody has a DS set any more that the parent no longer gives. */
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
export const askedKey = (life: Rolling): string => (ROLLOVER[life.rollover].asks === "oldest" ? oldest(life) : newest(life));

/** The owner turns DNSSEC on. The parent is looked at anew before the zone counts as active. */
export const enabled = (life: DnssecLife, now: number): DnssecLife =>
  life.status === "disabled" || life.status === "pending-disabled" ? withStatus(life, "pending", now) : life;

/**
 * The owner turns DNSSEC off; `seen` is a look at the parent made for this, null where it failed. Whoever drops the
 * keys while somebody may know of a DS makes the zone bogus to them, so unless nobody can, it stays signed until the
 * DS is gone and forgotten. Where the parent was never seen, there is nothing to judge by, and the owner is believed.
 */
export function disabled(life: DnssecLife, seen: ParentSeen | null, now: number): DnssecLife {
  if (life.status === "disabled" || life.status === "pending-disabled") return life;
  const after = seen === null ? life : observed(life, seen, now);
  const unseen = seen === null && life.looked_on !== null;
  const remembered = after.ds_ttl > 0 && (after.ds_named.length > 0 || now < after.ds_since + seconds(rememberedFor(after)));
  if (!unseen && !remembered && life.status === "pending") return unsigned(after, now);
  // What was not seen may have come and gone since: the wait begins now.
  return withStatus({ ...after, ds_since: after.ds_named.length > 0 ? after.ds_since : now }, "pending-disabled", now);
}

/** Begins a rollover to the key, or undefined where the zone's state does not allow one. */
export const rolled = (life: DnssecLife, key: string, now: number): DnssecLife | undefined =>
  mayRoll(life) ? { ...life, rollover: "publish", rollover_since: now, keys: [...life.keys, key] } : undefined;

/** Without a DS nothing would be gained, and nobody could tell when the rollover is over. */
export const mayRoll = (life: DnssecLife): boolean => life.status === "active" && life.rollover === "none";

/** What follows from time and from a look at the parent; null where the look failed. */
export function looked(life: DnssecLife, seen: ParentSeen | null, times: ZoneTimes, now: number): DnssecLife {
  if (life.status === "disabled" || seen === null) return life;
  const after = afterStatus(observed(life, seen, now), times, now);
  // Which key is named may have been said to a parent that obeys late: while DNSSEC is on its way out nothing moves.
  return after.status === "disabled" || after.status === "pending-disabled" ? after : afterStage(after, times, now);
}

function observed(life: DnssecLife, { named, ttl }: ParentSeen, now: number): DnssecLife {
  const known = life.keys.filter((key) => named.includes(key));
  const same = known.length === life.ds_named.length && known.every((key) => life.ds_named.includes(key));
  const steady = life.looked_on !== null && now >= life.looked_on && now <= life.looked_on + seconds(LOOK_GAP_SECONDS);
  return {
    ...life,
    ds_named: known,
    ds_since: same && steady ? life.ds_since : now,
    ds_ttl: known.length === 0 ? life.ds_ttl : Math.max(life.ds_ttl, Math.min(ttl, DS_TTL_MAX_SECONDS), 1),
    looked_on: now,
    // A clock that was set back must not make a stage last until it is there again.
    status_since: Math.min(life.status_since, now),
    rollover_since: Math.min(life.rollover_since, now),
  };
}

/** The steps of a status that a look brings about, in order; the owner's are `enabled` and `disabled`. */
const STATUS_STEPS: readonly {
  readonly from: DnssecStatus;
  readonly to: DnssecStatus;
  when(life: DnssecLife, times: ZoneTimes, now: number): boolean;
}[] = [
  { from: "pending", to: "active", when: (life) => life.ds_named.length > 0 },
  { from: "error", to: "active", when: (life) => life.ds_named.length > 0 },
  // One resolver may know of the DS already, or still, when another does not.
  { from: "active", to: "error", when: (life, _times, now) => isGone(life, PARENT_LAG_SECONDS, now) },
  {
    from: "pending-disabled",
    to: "disabled",
    // A parent that reads a CDS of before from a secondary may once more give a DS, and that is not seen at once.
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

/** Nobody trusts the zone's keys any more: one is kept, for the next time. */
const unsigned = (life: DnssecLife, now: number): DnssecLife => ({ ...newLife(signingKey(life), now) });
