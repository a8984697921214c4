import { type TSchema, type TUnknown, Type } from "typebox";

/** Keyword with the public schema of a field. */
export const DOCUMENTED = "x-documented";
/** Keyword of a field that its object needs. */
export const NEEDED = "x-needed";

/**
 * A field that the use-case checks, because each of its faults has a separate error code. Validation accepts any value;
 * the OpenAPI document and the reference show `schema`, and `isNeeded` as `required`.
 */
export const documented = (schema: TSchema, description?: string, isNeeded = false): TUnknown =>
  Type.Unknown({
    ...(description === undefined ? {} : { description }),
    [DOCUMENTED]: schema,
    ...(isNeeded ? { [NEEDED]: true } : {}),
  });
