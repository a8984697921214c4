import { type Static, Type } from "typebox";

/** Number of calls per day in which one caller used a feature that a row of SPEC 9 has ended or will end. */
export const DeprecationCall = Type.Object({
  day: Type.String({ format: "date" }),
  /** The id of the row, which `GET /deprecations/{id}` explains. */
  deprecation_id: Type.String(),
  /** The token, or the user if the request was authenticated by e-mail and key. */
  token_id: Type.String(),
  /** Absent for users, and for tokens that no longer exist. */
  token_name: Type.Optional(Type.String()),
  /** The API date that the token has now, if it has one. */
  api_date: Type.Optional(Type.String({ format: "date" })),
  /** Method and path template. */
  route: Type.String(),
  calls: Type.Integer(),
});
export type DeprecationCall = Static<typeof DeprecationCall>;
