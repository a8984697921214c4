import type { PrimaryCopy } from "./primary-copy.ts";
import type { ZoneSettings } from "./dns-settings.ts";

/** The columns of a zone that determine the source of its data. */
interface ZoneSource {
  readonly type: string;
  /** JSON of ZoneSettings. */
  readonly settings: string;
}

/** The zone's copy of its primary; undefined if it has none, or still serves its data from before it became secondary. */
export const primaryCopy = ({ type, settings }: ZoneSource): PrimaryCopy | undefined =>
  type === "secondary" ? (JSON.parse(settings) as ZoneSettings).primary : undefined;

/** SPEC 2.5: whether a secondary zone may proxy records, and have its own flattened CNAME at the apex. */
export const hasOverrides = ({ settings }: ZoneSource): boolean => (JSON.parse(settings) as ZoneSettings).secondary_overrides === true;

/** The settings with this copy, or without one. */
export function withPrimaryCopy(settings: string, copy: PrimaryCopy | undefined): string {
  const { primary: _, ...others } = JSON.parse(settings) as ZoneSettings;
  const changed: ZoneSettings = copy === undefined ? others : { ...others, primary: copy };
  return JSON.stringify(changed);
}
