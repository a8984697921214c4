import type { ZoneProof } from "./zone-proof.ts";
import { ZONE_STATES, type ZoneEvent } from "./zone-states.ts";
import type { ZoneStatus } from "./zone.ts";

/** What a look at a zone's ownership found. */
export interface LookFacts {
  /** Name servers that the parent has for it; null where nobody could say or is to be asked. */
  readonly parentNames: readonly string[] | null;
  /** The zone's name servers; empty where it has none of its own. */
  readonly pair: readonly string[];
  /** Another account's zone may be meant by them as well: naming them proves nothing, and takes nothing away. */
  readonly isPairShared: boolean;
  /** What shows ownership at once. */
  readonly proof: Extract<ZoneProof, "ds" | "txt" | "consent"> | null;
  /** Whether the zone above, where another account has one that is proved, has no part in it or says yes. */
  readonly isRefusedAbove: boolean;
  /** Nobody else has a claim, on an installation where that is enough. */
  readonly isFree: boolean;
}

/** How far a zone is, as `zone_claims` has it. */
export interface LookState {
  readonly status: ZoneStatus;
  readonly proof: ZoneProof;
  readonly sinceMs: number;
  readonly seenLooks: number;
  readonly seenMs: number | null;
  readonly elsewhereLooks: number;
  readonly elsewhereSinceMs: number | null;
}

export interface Judgement {
  readonly state: LookState;
  readonly event: { readonly kind: ZoneEvent; readonly proof: ZoneProof } | null;
  /** Milliseconds until the next look; null where nothing is to be found out any more. */
  readonly nextMs: number | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A delegation is believed when a second look sees it, no sooner than this. */
const AGAIN_MS = 50_000;
const SEEN_LOOKS = 2;
/** A zone has moved when so many looks in a row saw other name servers, over so long. */
const ELSEWHERE_LOOKS = 3;
const ELSEWHERE_MS = 24 * HOUR_MS;

/** What follows from a look, as a table of what counts first. */
export function judgeLook(before: LookState, facts: LookFacts, nowMs: number): Judgement {
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

/** What is proved by these lasts while the parent does not name others for long. */
const FOLLOWS_PARENT: ReadonlySet<ZoneProof> = new Set(["delegation", "ds"]);

function counted(before: LookState, { parentNames, pair, isPairShared, proof }: LookFacts, nowMs: number): LookState {
  // Nobody answered, or nobody was asked: that says nothing.
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

const hasGone = ({ elsewhereLooks, elsewhereSinceMs }: LookState, nowMs: number): boolean =>
  elsewhereLooks >= ELSEWHERE_LOOKS && elsewhereSinceMs !== null && nowMs - elsewhereSinceMs >= ELSEWHERE_MS;

/** Soon while something is about to happen, the rarer the longer nothing has; never later than the state's end. */
function nextLook({ status, proof, sinceMs, seenLooks }: LookState, nowMs: number): number | null {
  if (status === "active" && (proof === "operator" || proof === "txt")) return null;
  if (status === "active" && proof === "consent") return MINUTE_MS;
  if (status === "active" && proof !== "none") return 12 * HOUR_MS;
  if (seenLooks > 0) return MINUTE_MS;
  const age = nowMs - sinceMs;
  const rarer = Math.min(Math.max(age / 10, MINUTE_MS), 6 * HOUR_MS);
  const { endsAfterMs } = ZONE_STATES[status];
  return endsAfterMs === null ? rarer : Math.max(Math.min(rarer, endsAfterMs - age), 1);
}
