import { timingSafeEqual } from "node:crypto";
import type { Actor, DatePins, Grant } from "#control/call.ts";
import { type Clock, type IsoDate, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { PasskeyAssertion, Site } from "#model/access/passkey.ts";
import { ALL_PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import type { Store } from "#store/database/store.ts";
import { findSessionByHash, type SessionRow, touchSession } from "#store/access/sessions.ts";
import { invitationByToken } from "#store/access/invitations.ts";
import { findAccount } from "#store/access/accounts.ts";
import { findTokenByHash, findTokenById, type TokenRow } from "#store/access/tokens.ts";
import { findUser, findUserByEmail, type UserRow } from "#store/access/users.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import { createCommitInvalidatedCache } from "./commit-invalidated-cache.ts";
import type { PasskeyCheck } from "#control/sign-in/passkey-check.ts";
import type { PasswordCheck } from "#control/sign-in/password-check.ts";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { sessionEndMs } from "#model/access/session.ts";
import { addressGate, ownerReach, type Reach, readTokenFacts, tokenActor, type TokenFacts } from "./token-facts.ts";

/** The two forms of SPEC 5.2, and three for browsers: a session's cookie, and the password or passkey that starts a session. */
export type Credential =
  | { readonly type: "token"; readonly secret: string }
  | { readonly type: "key"; readonly email: string; readonly key: string }
  | { readonly type: "session"; readonly secret: string }
  | { readonly type: "password"; readonly email: string; readonly password: string }
  /** A passkey's signature at this site. It works once. */
  | { readonly type: "passkey"; readonly assertion: PasskeyAssertion; readonly site: Site }
  /** The secret of an invitation's link, for accepting or declining it. */
  | { readonly type: "invitation"; readonly secret: string };

export interface Authenticator {
  /**
   * Authenticates the caller at the address `ip`. Throws `invalid_token` if the token is unknown, disabled or not valid
   * yet or any more, `token_location` if its condition excludes the address, `unknown_key` if e-mail and key do not match,
   * `session_ended`, `wrong_password`, `passkey_refused`, and `rate_limited` after many of these errors.
   */
  authenticate(credential: Credential, ip: string): Promise<Actor>;
  /** Whether the credential was valid a short time ago: it keeps working while its address is blocked for guessing. */
  isFamiliar(credential: Credential): boolean;
  /** Drops the token from caches. */
  invalidate(tokenId: string): void;
  /** Drops these sessions from caches. */
  endSessions(ids: readonly string[]): void;
  /** Drops every credential from caches, because the permissions of any of them may have changed. */
  invalidateAll(): void;
  close(): void;
}

const CREDENTIALS_KEPT_MAX = 10_000;
/** Accuracy of a session's last use, because each update is a write. */
const SEEN_EVERY_MS = 5 * 60_000;

interface KnownToken {
  readonly facts: TokenFacts;
  readonly admits: (ip: string) => boolean;
  readonly pins: DatePins;
}

interface KnownSession {
  readonly row: SessionRow;
  readonly by: KnownToken | KnownUser;
}

interface KnownUser {
  readonly row: UserRow;
  readonly reach: Reach;
}

export interface AuthenticatorDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: PasswordCheck;
  readonly passkeys: PasskeyCheck;
}

export function createAuthenticator({ store, clock, passwords, passkeys }: AuthenticatorDeps): Authenticator {
  const tokens = createCommitInvalidatedCache<KnownToken>({
    store,
    clock,
    entriesMax: CREDENTIALS_KEPT_MAX,
    load: async (secretHash) => {
      const row = await findTokenByHash(store.read, secretHash);
      if (!row || !sameHash(row.hash, secretHash)) return undefined;
      return known(row);
    },
  });
  const users = createCommitInvalidatedCache<KnownUser>({
    store,
    clock,
    entriesMax: CREDENTIALS_KEPT_MAX,
    load: async (email) => {
      const row = await findUserByEmail(store.read, email);
      return row && { row, reach: await ownerReach(store.read, { account_id: null, user_id: row.id }) };
    },
  });

  const sessions = createCommitInvalidatedCache<KnownSession>({
    store,
    clock,
    entriesMax: CREDENTIALS_KEPT_MAX,
    load: async (secretHash) => {
      const row = await findSessionByHash(store.read, secretHash);
      if (!row || !sameHash(row.hash, secretHash)) return undefined;
      const by = row.token_id === null ? await knownUser(row.user_id ?? "") : await knownToken(row.token_id);
      return by && { row, by };
    },
  });
  async function knownUser(id: string): Promise<KnownUser | undefined> {
    const row = await findUser(store.read, id);
    return row && { row, reach: await ownerReach(store.read, { account_id: null, user_id: row.id }) };
  }
  async function knownToken(id: string): Promise<KnownToken | undefined> {
    const row = await findTokenById(store.read, id);
    return row && known(row);
  }
  async function known(row: TokenRow): Promise<KnownToken> {
    const facts = await readTokenFacts(store.read, row);
    const account = row.account_id === null ? undefined : await findAccount(store.read, row.account_id);
    const pins = { token: row.api_date as IsoDate | null, account: (account?.api_date ?? null) as IsoDate | null };
    return { facts, admits: addressGate(facts), pins };
  }

  /** Repeats a lookup that finds nothing once the database is complete, because tables are empty while a dump is loaded. */
  async function surely<V>(find: () => Promise<V | undefined>): Promise<V | undefined> {
    const found = await find();
    if (found !== undefined) return found;
    await store.position();
    return find();
  }

  function actorOfToken(known: KnownToken | undefined, ip: string): Actor {
    const nowMs = clock.nowMs();
    if (!known || known.facts.row.status !== "active" || nowMs < known.facts.not_before_ms || nowMs >= known.facts.expires_ms)
      throw new PlatformError("invalid_token");
    if (!known.admits(ip)) throw new PlatformError("token_location", { message: `Cannot use the access token from location: ${ip}` });
    return tokenActor(known.facts, ip);
  }

  async function byToken(secret: string, ip: string): Promise<Actor> {
    const proof = hashSecret(secret);
    const token = await surely(() => tokens.get(proof));
    return { ...actorOfToken(token, ip), proof, ...(token === undefined ? {} : { pins: token.pins }) };
  }

  async function bySession(secret: string, ip: string): Promise<Actor> {
    const known = await surely(() => sessions.get(hashSecret(secret)));
    const nowMs = clock.nowMs();
    if (!known || sessionEndMs(known.row) <= nowMs) throw new PlatformError("session_ended");
    const actor = "facts" in known.by ? actorOfToken(known.by, ip) : actorOfUser(known.by, ip);
    if (nowMs - (parseTimestamp(known.row.last_seen_on) ?? 0) >= SEEN_EVERY_MS) await seen(known.row.id);
    return { ...actor, session_id: known.row.id };
  }

  /** Failing to write does not end the session; the next request tries again. */
  const seen = (id: string): Promise<unknown> =>
    store.write(({ db }) => touchSession(db, id, isoMicros(clock.nowMicros()))).catch(() => undefined);

  async function byPassword(email: string, password: string, ip: string): Promise<Actor> {
    const { id, password_hash: proof } = await passwords.userOf(email, password, ip);
    const known = await knownUser(id);
    if (!known) throw new PlatformError("wrong_password");
    return { ...actorOfUser(known, ip), proof };
  }

  async function byPasskey(assertion: PasskeyAssertion, site: Site, ip: string): Promise<Actor> {
    const row = await passkeys.check(assertion, site, ip);
    const known = await knownUser(row.user_id);
    if (!known) throw new PlatformError("passkey_refused");
    return { ...actorOfUser(known, ip), passkey_id: row.id };
  }

  async function byKey(email: string, key: string, ip: string): Promise<Actor> {
    const known = await surely(() => users.get(email.toLowerCase()));
    // Compares the hash even for an unknown e-mail, so that both cases take the same time.
    const fits = sameHash(known?.row.api_key_hash ?? NO_HASH, hashSecret(key));
    if (!known || !fits) throw new PlatformError("unknown_key");
    return { ...actorOfUser(known, ip), proof: known.row.api_key_hash };
  }

  /** The invited user, without any permission. */
  async function byInvitation(secret: string, ip: string): Promise<Actor> {
    const proof = hashSecret(secret);
    const row = await invitationByToken(store.read, proof);
    if (row === undefined || row.status !== "pending" || (parseTimestamp(row.expires_on) ?? 0) <= clock.nowMs())
      throw new PlatformError("invalid_token", { message: "The invitation does not exist, or has ended." });
    const user = { type: "user", id: row.user_id, user_id: row.user_id, name: row.email, ip } as const;
    return { ...user, proof, invitation_id: row.membership_id, grants: [], reach: new Map() };
  }

  return {
    authenticate: async (credential, ip) => {
      switch (credential.type) {
        case "token":
          return byToken(credential.secret, ip);
        case "key":
          return byKey(credential.email, credential.key, ip);
        case "session":
          return bySession(credential.secret, ip);
        case "password":
          return byPassword(credential.email, credential.password, ip);
        case "passkey":
          return byPasskey(credential.assertion, credential.site, ip);
        case "invitation":
          return byInvitation(credential.secret, ip);
        default:
          throw new PlatformError("internal", { detail: "a form of credential that nothing reads" });
      }
    },
    isFamiliar: (credential) => {
      if (credential.type === "token") return tokens.familiar(hashSecret(credential.secret)) !== undefined;
      if (credential.type === "session") return sessions.familiar(hashSecret(credential.secret)) !== undefined;
      if (credential.type === "invitation") return false;
      // Passwords and passkeys have separate limits.
      if (credential.type === "password" || credential.type === "passkey") return true;
      const known = users.familiar(credential.email.toLowerCase());
      return sameHash(known?.row.api_key_hash ?? NO_HASH, hashSecret(credential.key));
    },
    invalidate: (tokenId) => tokens.drop((known) => known.facts.row.id === tokenId),
    endSessions: (ids) => sessions.drop((known) => ids.includes(known.row.id)),
    invalidateAll: () => {
      tokens.drop(() => true);
      users.drop(() => true);
      sessions.drop(() => true);
    },
    close: () => {
      tokens.close();
      users.close();
      sessions.close();
    },
  };
}

/** A hash that no secret has. */
const NO_HASH = "0".repeat(64);

const sameHash = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const actorOfUser = ({ row, reach }: KnownUser, ip: string): Actor => ({
  ...{ type: "user", id: row.id, user_id: row.id, name: row.email, ip },
  grants: everything(row.id),
  reach,
});

/** E-mail and key grant everything that the user's memberships grant. */
const everything = (userId: string): readonly Grant[] => [
  { effect: "allow", level: "account", id: "*", groups: ALL_PERMISSION_GROUPS },
  { effect: "allow", level: "zone", account: "*", id: "*", groups: ALL_PERMISSION_GROUPS },
  { effect: "allow", level: "user", id: userId, groups: ALL_PERMISSION_GROUPS },
];
