import { hash, timingSafeEqual } from "node:crypto";
import type { Actor, Grant } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ALL_PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import type { Store } from "#store/database/store.ts";
import { findTokenByHash } from "#store/access/tokens.ts";
import { findUserByEmail, type UserRow } from "#store/access/users.ts";
import { createFreshCache } from "./fresh-cache.ts";
import { addressGate, ownerReach, type Reach, readTokenFacts, tokenActor, type TokenFacts } from "./token-facts.ts";

/** The two forms of SPEC 5.2. */
export type Credential =
  | { readonly type: "token"; readonly secret: string }
  | { readonly type: "key"; readonly email: string; readonly key: string };

export interface Authenticator {
  /**
   * Who calls, from `ip`. Throws `invalid_token` where the token is unknown, disabled or outside its time,
   * `token_location` where its condition excludes the address, `unknown_key` where e-mail and key do not fit.
   */
  authenticate(credential: Credential, ip: string): Promise<Actor>;
  /** Whether the credential was good not long ago: it goes on working while its address is held up for guessing. */
  isFamiliar(credential: Credential): boolean;
  /** Forgets what is known of the token. */
  invalidate(tokenId: string): void;
  /** Forgets every credential: the reach of any of them may have changed. */
  invalidateAll(): void;
  close(): void;
}

/** A secret in the form in which the store holds it. Secrets are random and long, so one round suffices. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "hex");

const CREDENTIALS_KEPT_MAX = 10_000;

interface KnownToken {
  readonly facts: TokenFacts;
  readonly admits: (ip: string) => boolean;
}

interface KnownUser {
  readonly row: UserRow;
  readonly reach: Reach;
}

export function createAuthenticator({ store, clock }: { readonly store: Store; readonly clock: Clock }): Authenticator {
  const tokens = createFreshCache<KnownToken>({
    store,
    clock,
    entriesMax: CREDENTIALS_KEPT_MAX,
    load: async (secretHash) => {
      const row = await findTokenByHash(store.read, secretHash);
      if (!row || !sameHash(row.hash, secretHash)) return undefined;
      const facts = await readTokenFacts(store.read, row);
      return { facts, admits: addressGate(facts) };
    },
  });
  const users = createFreshCache<KnownUser>({
    store,
    clock,
    entriesMax: CREDENTIALS_KEPT_MAX,
    load: async (email) => {
      const row = await findUserByEmail(store.read, email);
      return row && { row, reach: await ownerReach(store.read, { account_id: null, user_id: row.id }) };
    },
  });

  async function byToken(secret: string, ip: string): Promise<Actor> {
    const known = await tokens.get(hashSecret(secret));
    const nowMs = clock.nowMs();
    if (!known || known.facts.row.status !== "active" || nowMs < known.facts.not_before_ms || nowMs >= known.facts.expires_ms)
      throw new PlatformError("invalid_token");
    if (!known.admits(ip)) throw new PlatformError("token_location", { message: `Cannot use the access token from location: ${ip}` });
    return tokenActor(known.facts, ip);
  }

  async function byKey(email: string, key: string, ip: string): Promise<Actor> {
    const known = await users.get(email.toLowerCase());
    // The hash is compared for an unknown e-mail too, so that both cases take the same time.
    const fits = sameHash(known?.row.api_key_hash ?? NO_HASH, hashSecret(key));
    if (!known || !fits) throw new PlatformError("unknown_key");
    return {
      type: "user",
      id: known.row.id,
      user_id: known.row.id,
      name: known.row.email,
      ip,
      grants: everything(known.row.id),
      reach: known.reach,
    };
  }

  return {
    authenticate: (credential, ip) =>
      credential.type === "token" ? byToken(credential.secret, ip) : byKey(credential.email, credential.key, ip),
    isFamiliar: (credential) => {
      if (credential.type === "token") return tokens.familiar(hashSecret(credential.secret)) !== undefined;
      const known = users.familiar(credential.email.toLowerCase());
      return sameHash(known?.row.api_key_hash ?? NO_HASH, hashSecret(credential.key));
    },
    invalidate: (tokenId) => tokens.drop((known) => known.facts.row.id === tokenId),
    invalidateAll: () => {
      tokens.drop(() => true);
      users.drop(() => true);
    },
    close: () => {
      tokens.close();
      users.close();
    },
  };
}

/** No secret has this hash. */
const NO_HASH = "0".repeat(64);

const sameHash = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** E-mail and key stand for the user in full; the user's memberships bound what that is. */
const everything = (userId: string): readonly Grant[] => [
  { effect: "allow", level: "account", id: "*", groups: ALL_PERMISSION_GROUPS },
  { effect: "allow", level: "zone", account: "*", id: "*", groups: ALL_PERMISSION_GROUPS },
  { effect: "allow", level: "user", id: userId, groups: ALL_PERMISSION_GROUPS },
];
