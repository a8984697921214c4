import type { ZoneClaimRow } from "#store/zones/zone-claims.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

const FIRST_LOOK_MS = 60_000;

/** The claim of a zone that has just entered its status. */
export const newClaim = (zone: Pick<ZoneRow, "id">, nowMs: number): ZoneClaimRow => ({
  ...{ zone_id: zone.id, since_ms: nowMs, next_look_ms: nowMs + FIRST_LOOK_MS, looks: 0 },
  ...{ seen_looks: 0, seen_ms: null, elsewhere_looks: 0, elsewhere_since_ms: null, asked_ms: null, reason: "" },
});
