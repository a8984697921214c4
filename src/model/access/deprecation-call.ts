import { type Static, Type } from "typebox";

/** How often one caller used on one day what a row of SPEC 9 will end, or has announced to end. */
export const DeprecationCall = Type.Object({
  day: Type.String({ format: "date" }),
  /** The row, as `GET /deprecations/{id}` explains it. */
  deprecation_id: Type.String(),
  /** The token, or the user where e-mail and key were sent. */
  token_id: Type.String(),
  /** Method and path template. */
  route: Type.String(),
  calls: Type.Integer(),
});
export type DeprecationCall = Static<typeof DeprecationCall>;
