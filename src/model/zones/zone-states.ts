import type { ZoneStatus } from "./zone.ts";

/** Events in a zone's life (docs/guides/zone-ownership.md). */
export type ZoneEvent =
  /** The account has proved that it owns the name. */
  | "proved"
  /** The parent has delegated to other name servers for long, or another account has proved the name. */
  | "superseded"
  /** The operator gave the name to another account. */
  | "refused"
  /** The time limit of its state has passed. */
  | "expired";

type Reached = ZoneStatus | "gone";

const DAY_MS = 86_400_000;

/** Every state with the next state per event; an event without a row cannot occur in the state. */
export const ZONE_STATES: {
  readonly [S in ZoneStatus]: { readonly endsAfterMs: number | null; readonly on: { readonly [E in ZoneEvent]?: Reached } };
} = {
  initializing: { endsAfterMs: 28 * DAY_MS, on: { proved: "active", refused: "pending", expired: "gone" } },
  // Waits for a proof: only SOA and NS of its apex are answered.
  pending: { endsAfterMs: 28 * DAY_MS, on: { proved: "active", refused: "pending", expired: "gone" } },
  active: { endsAfterMs: null, on: { proved: "active", superseded: "moved", refused: "pending" } },
  // Not served at the edge; its names are answered for a while, because caches may still refer to this server.
  moved: { endsAfterMs: 7 * DAY_MS, on: { proved: "active", superseded: "moved", refused: "pending", expired: "gone" } },
};

/** Throws if the event cannot occur in the state, which would be a defect. */
export function zoneStateAfter(status: ZoneStatus, event: ZoneEvent): Reached {
  const next = ZONE_STATES[status].on[event];
  if (next === undefined) throw new Error(`a zone that is ${status} cannot be ${event}`);
  return next;
}

/** How long the name of a deleted zone is reserved for its account and excluded from its former pair. */
export const QUARANTINE_MS = 7 * DAY_MS;
/** Maximum number of pending zones per account. */
export const PENDING_ZONES_MAX = 50;
