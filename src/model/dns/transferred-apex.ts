import type { PrimaryCopy } from "./primary-copy.ts";
import type { ZoneSettings } from "./dns-settings.ts";

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
