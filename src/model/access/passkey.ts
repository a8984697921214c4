import { type Static, Type } from "typebox";

const Base64Url = (maxLength: number) => Type.String({ maxLength, pattern: "^[A-Za-z0-9_-]+$" });
/** WebAuthn §5.8.4 allows values that are not known yet. */
const Transports = Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10 });
const Name = Type.String({ minLength: 1, maxLength: 60, description: "Where the passkey is, as its owner calls it: `Phone`." });

/** A passkey (WebAuthn) that signs the user in instead of the password. */
export const Passkey = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: Name,
  host: Type.String({ description: "The host name of the dashboard that it is for. Browsers offer it at no other host." }),
  synced: Type.Boolean({ description: "Whether the authenticator keeps copies of it on other devices." }),
  created_on: Type.String({ format: "date-time" }),
  last_used_on: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
});
export type Passkey = Static<typeof Passkey>;

export const PasskeyId = Type.Object({ id: Type.String() });

export const PasskeyStart = Type.Object({
  current_password: Type.Optional(Type.String({ maxLength: 256, description: "Required if the user has a password." })),
});
export type PasskeyStart = Static<typeof PasskeyStart>;

/** Options for the browser, which then makes a passkey: `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
export const PasskeyStarted = Type.Object({
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  challenge: Type.String({ description: "Works once, for ten minutes." }),
  pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal("public-key"), alg: Type.Integer() })),
  timeout: Type.Integer(),
  excludeCredentials: Type.Array(Type.Object({ type: Type.Literal("public-key"), id: Type.String(), transports: Transports })),
  authenticatorSelection: Type.Object({
    residentKey: Type.Literal("required"),
    requireResidentKey: Type.Boolean(),
    userVerification: Type.Literal("required"),
  }),
  attestation: Type.Literal("none"),
});
export type PasskeyStarted = Static<typeof PasskeyStarted>;

/** The browser's answer: `RegistrationResponseJSON` of WebAuthn, of which other members are ignored. */
export const PasskeyCreate = Type.Object({
  name: Name,
  credential: Type.Object({
    id: Base64Url(1400),
    response: Type.Object({
      clientDataJSON: Base64Url(4096),
      attestationObject: Base64Url(32_768),
      transports: Type.Optional(Transports),
    }),
  }),
});
export type PasskeyCreate = Static<typeof PasskeyCreate>;

export const PasskeyEdit = Type.Object({ name: Name });
export type PasskeyEdit = Static<typeof PasskeyEdit>;

/** The assertion of a sign-in, as `Authorization: Passkey` has it: `AuthenticationResponseJSON` of WebAuthn, as base64url. */
export interface PasskeyAssertion {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle: string | undefined;
}

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn, for any passkey of this host. */
export interface PasskeyRequest {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: "required";
  readonly allowCredentials: readonly never[];
}

/** The dashboard's address as the browser of a request sees it; WebAuthn binds passkeys to it. */
export interface Site {
  /** Without the port. */
  readonly host: string;
  readonly origins: readonly string[];
}
