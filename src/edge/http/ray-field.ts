import { type FieldNames, fieldNames } from "#wire/http/hop-by-hop.ts";

/** The field that names a request in responses, and the one that says how the cache had to do with it. */
export interface RayField {
  readonly name: string;
  /** Of its line, up to the value. */
  readonly lineStart: string;
  readonly cacheStatus: string;
  /** Dropped from what origins send: copies of ours, and what they tell the cache alone. */
  readonly names: FieldNames;
}

export const rayField = (prefix: string): RayField => ({
  name: `${prefix}-ray`,
  lineStart: `${prefix}-ray: `,
  cacheStatus: `${prefix}-cache-status`,
  names: fieldNames([`${prefix}-ray`, `${prefix}-cache-status`, `${prefix}-cdn-cache-control`, "cache-tag"]),
});
