import { auditActor, commit } from "#control/commit.ts";
import type { Actor, Call } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import { hashPassword } from "#kernel/crypto/password.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  type Password,
  type PasswordChange,
  type PasswordEnd,
  type Session,
  SESSION_SECONDS_MAX,
  type SessionCreate,
  sessionEndMs,
  type Setup,
} from "#model/access/session.ts";
import { isEmail } from "#model/access/user.ts";
import { deleteSessions, insertSession, listSessions, type SessionOwner, type SessionRow } from "#store/access/sessions.ts";
import { findPasskey } from "#store/access/passkeys.ts";
import { findTokenById, oldestUserToken } from "#store/access/tokens.ts";
import { findUser, findUserByEmail, oldestUser, updateUser, type UserRow } from "#store/access/users.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { Kysely } from "kysely";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { userWithPassword } from "#control/sign-in/own-password.ts";
import type { ProviderIdentity } from "#control/sign-in/provider.ts";
import { actorOf, type ProviderUserDeps, userOfProvider } from "#control/sign-in/provider-users.ts";
import { assertOtherWay, canSignIn } from "#control/sign-in/sign-in-ways.ts";
import type { PasswordCheck } from "#control/sign-in/password-check.ts";
import type { TotpControl } from "#control/sign-in/totp.ts";
import { ownUser } from "#control/sign-in/own-user.ts";

/** Signed-in browsers, and the passwords for signing in. */
export interface Sessions {
  list(call: Call): Promise<readonly Session[]>;
  /** Signs the caller in. The secret is returned on the call, and the API sets it as a cookie. */
  create(call: Call, body: SessionCreate): Promise<Session>;
  /** Signs in whom a provider of sign-in has named. Throws `provider_email` and `provider_no_user`. */
  createByProvider(about: ProviderSession): Promise<{ readonly secret: string }>;
  remove(call: Call, id: string): Promise<{ id: string }>;
  /** Ends the session of this call. */
  end(call: Call): Promise<{ id: string }>;
  /** Whether the installation has not been set up yet. */
  isOpen(): Promise<boolean>;
  /** Gives the first user an e-mail address and a password, and signs in. Works once; later throws `already_set_up`. */
  setUp(call: Call, body: Setup): Promise<Session>;
  changePassword(call: Call, body: PasswordChange): Promise<{ sessions_ended: number }>;
  password(call: Call): Promise<Password>;
  /** Ends sign-in with the password. Throws `last_sign_in` if the user has no other way. */
  endPassword(call: Call, body: PasswordEnd): Promise<Password>;
}

export interface ProviderSession {
  readonly identity: ProviderIdentity;
  readonly label: string;
  readonly ip: string;
  readonly requestId: string;
}

export interface SessionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: PasswordCheck;
  readonly totp: Pick<TotpControl, "check" | "ready">;
  /** Undefined if the operator has configured none. */
  readonly provider: ProviderUserDeps["config"] | undefined;
  /** Drops the sessions from caches. */
  ended(ids: readonly string[]): void;
}

/** A new session ends the oldest if there are too many. */
const SESSIONS_PER_OWNER_MAX = 50;

export function createSessions({ store, clock, passwords, totp, provider, ended }: SessionsDeps): Sessions {
  async function add(
    unit: Unit,
    call: Call,
    label: string,
    by: Pick<SessionRow, "user_id" | "token_id" | "began_with" | "passkey_id">,
  ): Promise<Session> {
    const secret = newTokenSecret();
    const nowMicros = clock.nowMicros();
    const now = isoMicros(nowMicros);
    const row: SessionRow = {
      ...{ id: newId(), hash: hashSecret(secret), ...by, label, ip: call.actor.ip, created_on: now, last_seen_on: now },
      expires_on: isoMicros(nowMicros + SESSION_SECONDS_MAX * 1_000_000),
    };
    const others = await listSessions(unit.db, ownerOf(row));
    const over = others.filter((other, at) => at >= SESSIONS_PER_OWNER_MAX - 1 || hasEnded(other, clock.nowMs()));
    await deleteSessions(
      unit.db,
      over.map(({ id }) => id),
    );
    await insertSession(unit.db, row);
    unit.audit(auditSession("session.create", call, row));
    call.session = secret;
    return view(row, row.id);
  }

  return {
    list: async (call) =>
      (await listSessions(store.read, { user_id: ownUser(call) }))
        .filter((row) => !hasEnded(row, clock.nowMs()))
        .map((row) => view(row, call.actor.session_id)),
    create: async (call, { label = "", code }) => {
      const { type, id, user_id } = call.actor;
      if (code !== undefined) await totp.ready(id);
      return commit({ store }, call, async (unit) => {
        const way = await wayOf(unit.db, call.actor);
        if (way === "password") await totp.check(unit.db, id, code);
        const by = { user_id, token_id: type === "token" ? id : null, passkey_id: call.actor.passkey_id ?? null };
        return add(unit, call, label, { ...by, began_with: way });
      });
    },
    createByProvider: async ({ identity, label, ip, requestId }) => {
      if (provider === undefined) throw new PlatformError("no_route");
      const { result } = await store.write(async (unit) => {
        const user = await userOfProvider({ config: provider, clock }, unit, identity, ip);
        const call: Call = { actor: actorOf(user, ip), request_id: requestId, rev: null };
        await add(unit, call, label, { user_id: user.id, token_id: null, began_with: "provider", passkey_id: null });
        return { secret: call.session ?? "" };
      });
      return result;
    },
    remove: async (call, id) => {
      await commit({ store }, call, async (unit) => {
        const row = (await listSessions(unit.db, { user_id: ownUser(call) })).find((one) => one.id === id);
        if (!row) throw new PlatformError("not_found", { message: "No session with this identifier exists." });
        await deleteSessions(unit.db, [id]);
        unit.audit(auditSession("session.delete", call, row));
      });
      ended([id]);
      return { id };
    },
    end: async (call) => {
      const id = call.actor.session_id;
      if (id === undefined) throw new PlatformError("not_found", { message: "This request was not authenticated by a session." });
      await commit({ store }, call, async (unit) => {
        await deleteSessions(unit.db, [id]);
        unit.audit({ ...auditBase("session.end", call), resource: { type: "session", id } });
      });
      ended([id]);
      call.session = "";
      return { id };
    },
    isOpen: async () => {
      const user = await oldestUser(store.read);
      return user !== undefined && !(await canSignIn(store.read, user));
    },
    setUp: async (call, { email, password, label = "" }) => {
      if (!isEmail(email)) throw new PlatformError("invalid_input", { message: "Enter a valid e-mail address.", source: "/email" });
      await assertFirst(store.read, call);
      const password_hash = await hashPassword(password);
      return commit({ store }, call, async (unit) => {
        const before = await assertFirst(unit.db, call);
        const other = await findUserByEmail(unit.db, email.toLowerCase());
        if (other && other.id !== before.id)
          throw new PlatformError("invalid_input", { message: "Another user has this e-mail address.", source: "/email" });
        await updateUser(unit.db, before.id, { email: email.toLowerCase(), password_hash, modified_on: isoMicros(clock.nowMicros()) });
        unit.audit({
          ...auditBase("installation.set_up", call),
          resource: { type: "user", id: before.id },
          before: { email: before.email },
          after: { email },
        });
        return add(unit, call, label, { user_id: before.id, token_id: null, began_with: "password", passkey_id: null });
      });
    },
    changePassword: async (call, { current_password, password }) => {
      const { id: userId } = await userWithPassword({ store, passwords }, call, current_password);
      const password_hash = await hashPassword(password);
      const ids = await commit({ store }, call, async (unit) => {
        await updateUser(unit.db, userId, { password_hash, modified_on: isoMicros(clock.nowMicros()) });
        const others = (await listSessions(unit.db, { user_id: userId })).filter(({ id }) => id !== call.actor.session_id);
        await deleteSessions(
          unit.db,
          others.map(({ id }) => id),
        );
        unit.audit({ ...auditBase("user.password", call), resource: { type: "user", id: userId } });
        return others.map(({ id }) => id);
      });
      ended(ids);
      return { sessions_ended: ids.length };
    },
    password: async (call) => ({ enabled: ((await findUser(store.read, ownUser(call)))?.password_hash ?? null) !== null }),
    endPassword: async (call, { current_password }) => {
      const { id: userId } = await userWithPassword({ store, passwords }, call, current_password);
      await commit({ store }, call, async (unit) => {
        await updateUser(unit.db, userId, { password_hash: null, modified_on: isoMicros(clock.nowMicros()) });
        await assertOtherWay(unit.db, userId);
        unit.audit({ ...auditBase("user.password_end", call), resource: { type: "user", id: userId } });
      });
      return { enabled: false };
    },
  };
}

/** Requires the installation's first token, or the key of its first user. */
async function assertFirst(db: Kysely<Tables>, call: Call): Promise<UserRow> {
  const [user, { actor }] = [await oldestUser(db), call];
  if (!user || actor.user_id !== user.id) throw new PlatformError("authentication_error");
  if (await canSignIn(db, user)) throw new PlatformError("already_set_up");
  const isFirst = actor.type === "user" || (await oldestUserToken(db, user.id))?.id === actor.id;
  if (!isFirst)
    throw new PlatformError("authentication_error", { message: "Setting up requires the first token, which the first start printed." });
  return user;
}

/**
 * Between the check of a credential and the start of the session, the token may have been rolled or the password changed,
 * which ends existing sessions only: then throws. Returns how the session begins; null for tokens and keys.
 */
async function wayOf(db: Kysely<Tables>, { type, id, proof, passkey_id }: Actor): Promise<"password" | "passkey" | null> {
  if (passkey_id !== undefined) {
    if ((await findPasskey(db, passkey_id))?.user_id !== id) throw new PlatformError("passkey_refused");
    return "passkey";
  }
  const isToken = type === "token";
  const user = isToken ? undefined : await findUser(db, id);
  const hashes = isToken ? [(await findTokenById(db, id))?.hash] : [user?.password_hash, user?.api_key_hash];
  if (typeof proof !== "string" || !hashes.includes(proof)) throw new PlatformError(isToken ? "invalid_token" : "wrong_password");
  return user !== undefined && user.password_hash === proof ? "password" : null;
}

const beginningOf = ({ began_with }: SessionRow): "password" | "passkey" | "provider" =>
  began_with === "passkey" || began_with === "provider" ? began_with : "password";

const hasEnded = (row: SessionRow, nowMs: number): boolean => sessionEndMs(row) <= nowMs;

const ownerOf = ({ user_id, token_id }: SessionRow): SessionOwner => (user_id === null ? { token_id: token_id ?? "" } : { user_id });

const view = (row: SessionRow, currentId: string | undefined): Session => ({
  id: row.id,
  label: row.label,
  signed_in_with: row.token_id === null ? beginningOf(row) : "token",
  ip: row.ip,
  created_on: row.created_on,
  last_seen_on: row.last_seen_on,
  expires_on: row.expires_on,
  current: row.id === currentId,
});

const auditBase = (action: string, call: Call) => ({ action, actor: auditActor(call), account_id: null, zone_id: null });

const auditSession = (action: string, call: Call, { id, label, ip }: SessionRow) => ({
  ...auditBase(action, call),
  resource: { type: "session", id },
  after: { label, ip },
});
