import type { SoaValues } from "./soa.ts";

/** State of a secondary zone; part of its settings, because planes need it. */
export interface PrimaryCopy {
  /** The zone is not served: no primary has confirmed it for too long, or it was never transferred. */
  readonly expired: boolean;
  /** Null before the first transfer. */
  readonly apex: PrimaryApex | null;
}

/** The apex of a secondary zone with the primary's values, except those that are stored as records. */
export interface PrimaryApex {
  /** The primary's serial, independent of the zone's own versions. */
  readonly serial: number;
  /** Seconds. */
  readonly soa: SoaValues;
  /** Host names of the apex's NS set, in presentation format without the final dot. */
  readonly name_servers: readonly string[];
  readonly ns_ttl: number;
}
