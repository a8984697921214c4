import { auditActor, commit } from "#control/commit.ts";
import type { Actor, Call } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import { hashPassword } from "#kernel/crypto/password.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  type PasswordChange,
  type Session,
  SESSION_SECONDS_MAX,
  type SessionCreate,
  sessionEndMs,
  type Setup,
} from "#model/access/session.ts";
import { isEmail } from "#model/access/user.ts";
import { deleteSessions, insertSession, listSessions, type SessionOwner, type SessionRow } from "#store/access/sessions.ts";
import { findTokenById, oldestUserToken } from "#store/access/tokens.ts";
import { findUser, findUserByEmail, oldestUser, updateUser, type UserRow } from "#store/access/users.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { Kysely } from "kysely";
import { hashSecret } from "./authenticate.ts";
import type { PasswordCheck } from "./password-check.ts";
import type { TotpControl } from "./totp.ts";
import { ownUser } from "./users.ts";

/** Signed-in browsers, and the passwords for signing in. */
export interface Sessions {
  list(call: Call): Promise<readonly Session[]>;
  /** Signs the caller in. The secret is returned on the call, and the API sets it as a cookie. */
  create(call: Call, body: SessionCreate): Promise<Session>;
  remove(call: Call, id: string): Promise<{ id: string }>;
  /** Ends the session of this call. */
  end(call: Call): Promise<{ id: string }>;
  /** Whether the installation has not been set up yet. */
  isOpen(): Promise<boolean>;
  /** Gives the first user an e-mail address and a password, and signs in. Works once; later throws `already_set_up`. */
  setUp(call: Call, body: Setup): Promise<Session>;
  changePassword(call: Call, body: PasswordChange): Promise<{ sessions_ended: number }>;
}

export interface SessionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: PasswordCheck;
  readonly totp: Pick<TotpControl, "check">;
  /** Drops the sessions from caches. */
  ended(ids: readonly string[]): void;
}

/** A new session ends the oldest if there are too many. */
const SESSIONS_PER_OWNER_MAX = 50;

export function createSessions({ store, clock, passwords, totp, ended }: SessionsDeps): Sessions {
  async function add(
    unit: Unit,
    call: Call,
    label: string,
    by: { readonly user_id: string | null; readonly token_id: string | null },
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
    create: (call, { label = "", code }) => {
      const { type, id, user_id } = call.actor;
      return commit({ store }, call, async (unit) => {
        if (await isPassword(unit.db, call.actor)) await totp.check(unit.db, id, code);
        return add(unit, call, label, { user_id, token_id: type === "token" ? id : null });
      });
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
    isOpen: async () => (await oldestUser(store.read))?.password_hash === null,
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
        return add(unit, call, label, { user_id: before.id, token_id: null });
      });
    },
    changePassword: async (call, { current_password, password }) => {
      const userId = ownUser(call);
      const user = await findUser(store.read, userId);
      await passwords.userOf(user?.email ?? "", current_password, call.actor.ip).catch((error: unknown) => {
        if (!(error instanceof PlatformError && error.errorName === "wrong_password")) throw error;
        throw new PlatformError("wrong_password", { message: "The current password is wrong.", source: "/current_password" });
      });
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
  };
}

/** Requires the installation's first token, or the key of its first user. */
async function assertFirst(db: Kysely<Tables>, call: Call): Promise<UserRow> {
  const [user, { actor }] = [await oldestUser(db), call];
  if (!user || actor.user_id !== user.id) throw new PlatformError("authentication_error");
  if (user.password_hash !== null) throw new PlatformError("already_set_up");
  const isFirst = actor.type === "user" || (await oldestUserToken(db, user.id))?.id === actor.id;
  if (!isFirst)
    throw new PlatformError("authentication_error", { message: "Setting up requires the first token, which the first start printed." });
  return user;
}

/**
 * Between the check of a credential and the start of the session, the token may have been rolled or the password changed,
 * which ends existing sessions only: then throws. Returns whether the credential is a password.
 */
async function isPassword(db: Kysely<Tables>, { type, id, proof }: Actor): Promise<boolean> {
  const isToken = type === "token";
  const user = isToken ? undefined : await findUser(db, id);
  const hashes = isToken ? [(await findTokenById(db, id))?.hash] : [user?.password_hash, user?.api_key_hash];
  if (typeof proof !== "string" || !hashes.includes(proof)) throw new PlatformError(isToken ? "invalid_token" : "wrong_password");
  return user !== undefined && user.password_hash === proof;
}

const hasEnded = (row: SessionRow, nowMs: number): boolean => sessionEndMs(row) <= nowMs;

const ownerOf = ({ user_id, token_id }: SessionRow): SessionOwner => (user_id === null ? { token_id: token_id ?? "" } : { user_id });

const view = (row: SessionRow, currentId: string | undefined): Session => ({
  id: row.id,
  label: row.label,
  signed_in_with: row.token_id === null ? "password" : "token",
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
