import { Type } from "typebox";
import { type IsoDate, parseIsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/**
 * A day such as 2024-05-01 sets the pin, null removes it, and a body without the field does not change it, because most
 * clients do not know it.
 */
export const ApiDateWrite = Type.Optional(
  Type.Union([Type.String({ maxLength: 10 }), Type.Null()], {
    description: "The API date that calls have, such as 2024-05-01. Null: none. Without it, nothing changes.",
  }),
);

/** Absent if nothing is pinned. */
export const ApiDateView = Type.Optional(Type.String({ format: "date" }));

/** The stored value after a write. Throws `invalid_input` for a text that is not a day. */
export function writtenApiDate(body: { readonly api_date?: string | null | undefined }, stored: string | null): IsoDate | null {
  if (body.api_date === undefined) return stored as IsoDate | null;
  if (body.api_date === null) return null;
  const day = parseIsoDate(body.api_date);
  if (day === undefined)
    throw new PlatformError("invalid_input", { message: "api_date must be a day such as 2024-05-01.", source: "/api_date" });
  return day;
}
