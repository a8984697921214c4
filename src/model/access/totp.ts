import { type Static, Type } from "typebox";

/** Six digits of an authenticator program, or a recovery code. */
const Code = Type.String({ minLength: 6, maxLength: 32 });

/** Whether the user signs in with a password and a one-time code (RFC 6238). */
export const Totp = Type.Object({
  enabled: Type.Boolean(),
  /** Recovery codes that have not been used. */
  recovery_codes_left: Type.Integer(),
});
export type Totp = Static<typeof Totp>;

export const TotpStart = Type.Object({ current_password: Type.String({ maxLength: 256 }) });
export type TotpStart = Static<typeof TotpStart>;

/** Shown once. Sign-in does not require codes before the first code has confirmed it. */
export const TotpStarted = Type.Object({
  secret: Type.String({ description: "Base32, to type into an authenticator program." }),
  url: Type.String({ description: "The otpauth address behind a QR code." }),
});
export type TotpStarted = Static<typeof TotpStarted>;

export const TotpConfirm = Type.Object({ code: Code });
export type TotpConfirm = Static<typeof TotpConfirm>;

/** Each recovery code replaces one one-time code; they are shown once. */
export const TotpConfirmed = Type.Object({ recovery_codes: Type.Array(Type.String()) });
export type TotpConfirmed = Static<typeof TotpConfirmed>;

export const TotpEnd = Type.Object({ code: Type.Optional(Code) });
export type TotpEnd = Static<typeof TotpEnd>;
