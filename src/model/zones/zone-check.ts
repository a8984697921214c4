import type { ZoneProof } from "./zone-proof.ts";
import { ZONE_STATES, type ZoneEvent } from "./zone-states.ts";
import type { ZoneStatus } from "./zone.ts";

/** Findings of a check of a zone's ownership. */
export interface CheckFacts {
  /** The parent's name servers for the zone; null if unknown or not checked. */
  readonly parentNames: readonly string[] | null;
  /** The zone's name servers; empty if it has no pair. */
  readonly pair: readonly string[];
  /** Another account's zone may have the same pair, so a delegation to it proves nothing for this zone. */
  readonly isPairShared: boolean;
  /** A proof that takes effect at once. */
  readonly proof: Extract<ZoneProof, "ds" | "txt" | "consent"> | null;
  /** Another account's proved zone above exists and does not consent. */
  readonly isRefusedAbove: boolean;
  /** No other account claims the name, and the installation accepts that as sufficient. */
  readonly isFree: boolean;
}

/** Progress of the checks, as in `zone_claims`. */
export interface CheckState {
  readonly status: ZoneStatus;
  readonly proof: ZoneProof;
  readonly sinceMs: number;
  readonly seenLooks: number;
  readonly seenMs: number | null;
  readonly elsewhereLooks: number;
  readonly elsewhereSinceMs: number | null;
}

export interface Judgement {
  readonly state: CheckState;
  readonly event: { readonly kind: ZoneEvent; readonly proof: ZoneProof } | null;
  /** Milliseconds until the next check; null if none is needed. */
  readonly nextMs: number | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A delegation counts when a second check sees it, at least this long after the first. */
const AGAIN_MS = 50_000;
const SEEN_LOOKS = 2;
/** A zone has moved after so many consecutive checks saw other name servers, over at least this time. */
const ELSEWHERE_LOOKS = 3;
const ELSEWHERE_MS = 24 * HOUR_MS;

/** The consequence of a check; the first matching row of the table applies. */
export function judgeCheck(before: CheckState, facts: CheckFacts, nowMs: number): Judgement {
  const state = counted(before, facts, nowMs);
  const { endsAfterMs } = ZONE_STATES[before.status];
  const isSeen = state.seenLooks >= SEEN_LOOKS && nowMs - (state.seenMs ?? nowMs) >= AGAIN_MS;
  const proof = facts.proof ?? (isSeen ? "delegation" : null);
  const isProved = before.status === "active" && before.proof !== "none";
  const outcomes: readonly (readonly [boolean, Judgement["event"]])[] = [
    [isProved && before.proof === "consent" && facts.isRefusedAbove, { kind: "superseded", proof: "none" }],
    [isProved && FOLLOWS_PARENT.has(before.proof) && hasGone(state, nowMs), { kind: "superseded", proof: "none" }],
    [!isProved && proof !== null, { kind: "proved", proof: proof ?? "none" }],
    [before.status === "pending" && facts.isFree, { kind: "proved", proof: "none" }],
    [endsAfterMs !== null && nowMs - before.sinceMs >= endsAfterMs, { kind: "expired", proof: "none" }],
  ];
  const event = outcomes.find(([holds]) => holds)?.[1] ?? null;
  return { state, event, nextMs: event === null ? nextLook(state, nowMs) : MINUTE_MS };
}

/** Proofs that end when the parent delegates to other name servers for long. */
const FOLLOWS_PARENT: ReadonlySet<ZoneProof> = new Set(["delegation", "ds"]);

function counted(before: CheckState, { parentNames, pair, isPairShared, proof }: CheckFacts, nowMs: number): CheckState {
  // Without an answer from the parent, nothing changes.
  if (parentNames === null) return before;
  const isNamed = pair.length > 0 && !isPairShared && pair.every((name) => parentNames.includes(name));
  const isElsewhere = parentNames.length > 0 && pair.length > 0 && !pair.some((name) => parentNames.includes(name)) && proof === null;
  return {
    ...before,
    seenLooks: isNamed ? before.seenLooks + 1 : 0,
    seenMs: isNamed ? (before.seenMs ?? nowMs) : null,
    elsewhereLooks: isElsewhere ? before.elsewhereLooks + 1 : 0,
    elsewhereSinceMs: isElsewhere ? (before.elsewhereSinceMs ?? nowMs) : null,
  };
}

const hasGone = ({ elsewhereLooks, elsewhereSinceMs }: CheckState, nowMs: number): boolean =>
  elsewhereLooks >= ELSEWHERE_LOOKS && elsewhereSinceMs !== null && nowMs - elsewhereSinceMs >= ELSEWHERE_MS;

/** Soon if a change is expected, and less often the longer nothing has changed; never later than the state's end. */
function nextLook({ status, proof, sinceMs, seenLooks }: CheckState, nowMs: number): number | null {
  if (status === "active" && (proof === "operator" || proof === "txt")) return null;
  if (status === "active" && proof === "consent") return MINUTE_MS;
  if (status === "active" && proof !== "none") return 12 * HOUR_MS;
  if (seenLooks > 0) return MINUTE_MS;
  const age = nowMs - sinceMs;
  const rarer = Math.min(Math.max(age / 10, MINUTE_MS), 6 * HOUR_MS);
  const { endsAfterMs } = ZONE_STATES[status];
  return endsAfterMs === null ? rarer : Math.max(Math.min(rarer, endsAfterMs - age), 1);
}
