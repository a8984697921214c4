import type { ZoneStatus } from "./zone.ts";

/** What can happen to a zone on its way (docs/guides/zone-ownership.md). */
export type ZoneEvent =
  /** Something shows that the account owns the name. */
  | "proved"
  /** The parent has long named other name servers, or another account has proved the name. */
  | "superseded"
  /** The operator gave the name to another account. */
  | "refused"
  /** The time of its state is over. */
  | "expired";

type Reached = ZoneStatus | "gone";

const DAY_MS = 86_400_000;

/** Every state with what follows from each event; an event that a state has no row for cannot happen in it. */
export const ZONE_STATES: {
  readonly [S in ZoneStatus]: { readonly endsAfterMs: number | null; readonly on: { readonly [E in ZoneEvent]?: Reached } };
} = {
  initializing: { endsAfterMs: 28 * DAY_MS, on: { proved: "active", refused: "pending", expired: "gone" } },
  // It waits for a proof: SOA and NS of its apex are answered, and nothing else.
  pending: { endsAfterMs: 28 * DAY_MS, on: { proved: "active", refused: "pending", expired: "gone" } },
  active: { endsAfterMs: null, on: { proved: "active", superseded: "moved", refused: "pending" } },
  // Nothing of it is served at the edge; its names are answered for a while, since caches may still lead here.
  moved: { endsAfterMs: 7 * DAY_MS, on: { proved: "active", superseded: "moved", refused: "pending", expired: "gone" } },
};

/** Throws where the event cannot happen in the state: that is a defect. */
export function zoneStateAfter(status: ZoneStatus, event: ZoneEvent): Reached {
  const next = ZONE_STATES[status].on[event];
  if (next === undefined) throw new Error(`a zone that is ${status} cannot be ${event}`);
  return next;
}

/** A name that was deleted is kept for its account, and from the pair it had, for so long. */
export const QUARANTINE_MS = 7 * DAY_MS;
/** Pending zones that an account may have. */
export const PENDING_ZONES_MAX = 50;
