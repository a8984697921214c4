import type { ZoneSettings } from "./dns-settings.ts";
import type { SoaValues } from "./soa.ts";

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

/** How a zone of type secondary stands: part of its settings, since planes need to know. */
export interface PrimaryCopy {
  /** Nothing is answered from the zone: no primary has confirmed it for too long, or it was never fetched. */
  readonly expired: boolean;
  /** Null before the first transfer. */
  readonly apex: PrimaryApex | null;
}

/** The columns of a zone that say where its data comes from. */
interface ZoneSource {
  readonly type: string;
  /** JSON of ZoneSettings. */
  readonly settings: string;
}

/** What the zone has of its primary; undefined where it has none, or serves what it held before it became secondary. */
export const primaryCopy = ({ type, settings }: ZoneSource): PrimaryCopy | undefined =>
  type === "secondary" ? (JSON.parse(settings) as ZoneSettings).primary : undefined;

/** SPEC 2.5: whether a zone of type secondary may proxy, and flatten a CNAME of its own at the apex. */
export const hasOverrides = ({ settings }: ZoneSource): boolean => (JSON.parse(settings) as ZoneSettings).secondary_overrides === true;

/** The settings with another copy, or without one. */
export function withPrimaryCopy(settings: string, copy: PrimaryCopy | undefined): string {
  const { primary: _, ...others } = JSON.parse(settings) as ZoneSettings;
  const changed: ZoneSettings = copy === undefined ? others : { ...others, primary: copy };
  return JSON.stringify(changed);
}
