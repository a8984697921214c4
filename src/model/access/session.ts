import { parseTimestamp } from "#kernel/timestamp.ts";
import { type Static, Type } from "typebox";

/** Maximum age of a session, for the cookie and the stored expiry. */
export const SESSION_SECONDS_MAX = 7 * 24 * 3600;
/** A session without a request for this long expires. */
export const SESSION_IDLE_SECONDS = 12 * 3600;
/** NIST SP 800-63B §3.1.1.2 requires 8; here the password is the only factor. */
export const PASSWORD_LENGTH_MIN = 12;

const Label = Type.String({
  maxLength: 120,
  description: "The program that signed in, as shown in the list of sessions: `Firefox on Linux`.",
});
const NewPassword = Type.String({ minLength: PASSWORD_LENGTH_MIN, maxLength: 256 });

export const SessionCreate = Type.Object({
  label: Type.Optional(Label),
  code: Type.Optional(
    Type.String({ maxLength: 32, description: "The one-time code or a recovery code, if the user signs in with a second factor." }),
  ),
});
export type SessionCreate = Static<typeof SessionCreate>;

/** A signed-in browser. The secret exists only in its cookie. */
export const Session = Type.Object({
  id: Type.String({ maxLength: 32 }),
  label: Type.String(),
  signed_in_with: Type.Union([Type.Literal("password"), Type.Literal("passkey"), Type.Literal("provider"), Type.Literal("token")]),
  ip: Type.String({ description: "The address that signed in." }),
  created_on: Type.String({ format: "date-time" }),
  last_seen_on: Type.String({ format: "date-time", description: "Accurate to five minutes." }),
  expires_on: Type.String({ format: "date-time" }),
  current: Type.Boolean({ description: "Whether it is the session of this request." }),
});
export type Session = Static<typeof Session>;

export const SessionId = Type.Object({ id: Type.String() });

/** Sets the e-mail address and password of the installation's first user. */
export const Setup = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 254 }),
  password: NewPassword,
  label: Type.Optional(Label),
});
export type Setup = Static<typeof Setup>;

const CurrentPassword = Type.String({ maxLength: 256, description: "Required if the user has a password." });
export const PasswordChange = Type.Object({ current_password: Type.Optional(CurrentPassword), password: NewPassword });
export type PasswordChange = Static<typeof PasswordChange>;

/** Ends sign-in with the password. */
export const PasswordEnd = Type.Object({ current_password: CurrentPassword });
export type PasswordEnd = Static<typeof PasswordEnd>;

/** Whether the user can sign in with e-mail address and password. */
export const Password = Type.Object({ enabled: Type.Boolean() });
export type Password = Static<typeof Password>;

export const PasswordChanged = Type.Object({
  sessions_ended: Type.Integer({ description: "All sessions of the user except the one that made this request." }),
});

/** When the session ends if it is not used again. */
export const sessionEndMs = (row: { readonly last_seen_on: string; readonly expires_on: string }): number =>
  Math.min(parseTimestamp(row.expires_on) ?? 0, (parseTimestamp(row.last_seen_on) ?? 0) + SESSION_IDLE_SECONDS * 1000);
