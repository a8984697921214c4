import type { SoaValues } from "./soa.ts";

/** How a zone of type secondary stands: part of its settings, since planes need to know. */
export interface PrimaryCopy {
  /** Nothing is answered from the zone: no primary has confirmed it for too long, or it was never fetched. */
  readonly expired: boolean;
  /** Null before the first transfer. */
  readonly apex: PrimaryApex | null;
}

/** What a zone of type secondary answers at its apex: the values of its primary, less what it holds as records. */
export interface PrimaryApex {
  /** The primary's, whatever number the zone's own versions have. */
  readonly serial: number;
  /** Seconds. */
  readonly soa: SoaValues;
  /** Host names of the apex's NS set, in presentation form without the final dot. */
  readonly name_servers: readonly string[];
  readonly ns_ttl: number;
}
