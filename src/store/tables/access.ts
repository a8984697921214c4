import type { Generated } from "kysely";

export interface AccountsTable {
  id: string;
  name: string;
  type: string;
  settings: string;
  /** Defaults for new zones, and settings that apply to all zones. */
  dns_settings: Generated<string>;
  created_on: string;
  /** The API date that its calls have; null for the operator's. */
  api_date: string | null;
}

export interface UsersTable {
  id: string;
  email: string;
  first_name: string | null;
  last_name: string | null;
  telephone: string | null;
  country: string | null;
  zipcode: string | null;
  /** SHA-256 of the global API key, hexadecimal. */
  api_key_hash: string | null;
  /** Argon2id, as kernel/crypto/password.ts writes it; null if the user does not sign in with a password. */
  password_hash: Generated<string | null>;
  created_on: string;
  modified_on: string;
}

export interface UserTotpTable {
  user_id: string;
  /** Base32, sealed. */
  secret: string;
  /** SHA-256 of each unused recovery code, hexadecimal, as JSON. */
  recovery: string;
  /** The step of the last code that was accepted (RFC 6238 §5.2). */
  last_step: number;
  /** Null until the first code. */
  confirmed_on: string | null;
}

export interface UserPasskeysTable {
  id: string;
  user_id: string;
  /** As the authenticator named it, base64url. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** Of signatures; 0 if the authenticator does not count. */
  counter: number;
  /** The host name that it is for: the relying party of WebAuthn. */
  host: string;
  /** JSON. */
  transports: string;
  /** 1 if the authenticator keeps copies on other devices. */
  synced: number;
  name: string;
  created_on: string;
  last_used_on: string | null;
}

export interface UserIdentitiesTable {
  issuer: string;
  /** How the issuer names the person. */
  subject: string;
  user_id: string;
  created_on: string;
  last_used_on: string;
}

/** Of sign-ins and registrations in progress; each works once. */
export interface SignInChallengesTable {
  /** SHA-256, hexadecimal. */
  hash: string;
  purpose: string;
  /** The user that registers a passkey; null at sign-in. */
  user_id: string | null;
  /** Sealed, or empty. */
  data: string;
  expires_on: string;
}

export interface MembershipsTable {
  id: string;
  account_id: string;
  user_id: string;
  roles: string;
  status: string;
  created_on: string;
}

/** Of memberships that wait for their user. */
export interface InvitationsTable {
  membership_id: string;
  /** SHA-256 of the link's secret, hexadecimal; null if the user can sign in without it. */
  token_hash: string | null;
  /** The inviting user's e-mail address, or the name of the token. */
  invited_by: string;
  created_on: string;
  expires_on: string;
}

export interface TokensTable {
  id: string;
  /** The account that owns it, or null for a user's own token. */
  account_id: string | null;
  user_id: string | null;
  name: string;
  /** SHA-256 of the secret, hexadecimal. */
  hash: string;
  status: string;
  policies: string;
  condition: string | null;
  not_before: string | null;
  expires_on: string | null;
  issued_on: string;
  modified_on: string;
  /** 1 for the token that the first start printed, until it is rolled. */
  bootstrap: number;
  /** The API date that its calls have; null for the account's or the operator's. */
  api_date: string | null;
}

export interface SessionsTable {
  id: string;
  /** SHA-256 of the cookie's secret, hexadecimal. */
  hash: string;
  /** Null for a session through a token of an account. */
  user_id: string | null;
  /** The token that signed in: the session has its permissions and ends with it. */
  token_id: string | null;
  label: string;
  ip: string;
  created_on: string;
  last_seen_on: string;
  expires_on: string;
  /** Null in older rows and for sessions through a token. */
  began_with: Generated<string | null>;
  /** The passkey that signed in; the session ends with it. */
  passkey_id: Generated<string | null>;
}

export interface AccessAppsTable {
  /** A UUID. */
  id: string;
  account_id: string;
  /** Null if it belongs to the account itself. */
  zone_id: string | null;
  type: string;
  /** 64 hexadecimal characters. */
  aud: string;
  /** JSON of all other fields. */
  value: string;
  created_at: string;
  updated_at: string;
}

export interface AcceleratorsTable {
  id: string;
  account_id: string;
  name: string;
  enabled: number;
  created_on: string;
  modified_on: string;
}
