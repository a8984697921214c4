import { type FieldNames, fieldNames } from "#wire/http/hop-by-hop.ts";

/** The response fields with the request's id and with the cache status. */
export interface RayField {
  readonly name: string;
  /** Its line up to the value. */
  readonly lineStart: string;
  readonly cacheStatus: string;
  /** Fields that are removed from origins' responses: copies of ours, and fields for the cache alone. */
  readonly names: FieldNames;
}

export const rayField = (prefix: string): RayField => ({
  name: `${prefix}-ray`,
  lineStart: `${prefix}-ray: `,
  cacheStatus: `${prefix}-cache-status`,
  names: fieldNames([`${prefix}-ray`, `${prefix}-cache-status`, `${prefix}-cdn-cache-control`, "cache-tag"]),
});
