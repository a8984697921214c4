import type { Field } from "./field.ts";
import type { Phase } from "#rules/phases.ts";
import { BODY_FIELDS } from "./body-fields.ts";
import { CONNECTION_FIELDS } from "./connection-fields.ts";
import { REQUEST_FIELDS } from "./request-fields.ts";
import { RESPONSE_FIELDS } from "./response-fields.ts";
import { UNKNOWN_FIELDS } from "./unknown-fields.ts";

/** Every field of the language. */
export const FIELDS: readonly Field[] = [
  ...REQUEST_FIELDS,
  ...BODY_FIELDS,
  ...CONNECTION_FIELDS,
  ...RESPONSE_FIELDS,
  ...UNKNOWN_FIELDS,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]));

export const fieldNamed = (name: string): Field | undefined => BY_NAME.get(name);

/**
 * Whether rules of a phase may use the field. Counting expressions of rate limits may read the response, although the
 * phase is one of requests.
 */
export const fieldExists = (field: Field, phase: Phase, counts: boolean): boolean =>
  field.side === "request" || phase.side === "response" || counts;
