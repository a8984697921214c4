import type { Kysely } from "kysely";
import { auditActor, commit } from "#control/commit.ts";
import type { Actor, Call } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newTokenSecret } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { newTotpSecret, totpAddress, totpStep } from "#kernel/crypto/totp.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createRateLimiter, type RateLimitConfig } from "#kernel/net/rate-limiter.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import type { Totp, TotpConfirmed, TotpEnd, TotpStarted } from "#model/access/totp.ts";
import { deleteTotp, findTotp, putTotp, type TotpRow, updateTotp } from "#store/access/totp.ts";
import type { Store } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import { hashSecret } from "./secrets.ts";
import { userWithPassword } from "./own-password.ts";
import type { PasswordCheck } from "./password-check.ts";
import { ownUser } from "./own-user.ts";

/** One-time codes as a second factor after the password. */
export interface TotpControl {
  get(call: Call): Promise<Totp>;
  /** Creates a secret, which the first code confirms. Throws `wrong_password`, and `totp_state` if codes are already required. */
  start(call: Call, currentPassword: string): Promise<TotpStarted>;
  /** From now on, sign-in with the password requires a code. Throws `wrong_code`, and `totp_state` if nothing was started. */
  confirm(call: Call, code: string): Promise<TotpConfirmed>;
  /** Turns codes off. A session needs a code; an API token does not, so that a user who lost the device can sign in again. */
  end(call: Call, body: TotpEnd): Promise<Totp>;
  /** To wait for before `check`, outside of the transaction: until the limit can be counted with other servers. */
  ready(userId: string): Promise<void>;
  /**
   * Checks the code of a sign-in with a password, inside the transaction that starts the session. Throws `code_required`
   * if the user needs one, `wrong_code`, and `rate_limited` after many wrong ones.
   */
  check(db: Kysely<Tables>, userId: string, code: string | undefined): Promise<void>;
}

export interface TotpDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Null in commands that work on the database only, where no user signs in. */
  readonly sealer: Sealer | null;
  readonly passwords: PasswordCheck;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
}

/** Codes for one user: at this rate, an attacker with the password needs years to guess one of three valid codes in a million. */
const PER_USER: RateLimitConfig = { requests: 10, periodSeconds: 3600 };
const RECOVERY_CODES = 10;
const RECOVERY_LENGTH = 16;
const ISSUER = "Selvedge";

export function createTotpControl({ store, clock, sealer, passwords, sharedLimits: limits = UNSHARED }: TotpDeps): TotpControl {
  const guesses = createRateLimiter(PER_USER, clock, { limits, name: "codes", isStrict: true });
  const context = (userId: string): string => `totp:${userId}`;
  const seals = (): Sealer => {
    if (sealer === null) throw new PlatformError("internal", { detail: "one-time codes without a sealing key" });
    return sealer;
  };

  /** Uses the code up: the change of the row. Throws `wrong_code`, and `rate_limited` after many wrong ones. */
  function used(row: TotpRow, code: string): Pick<TotpRow, "last_step" | "recovery"> {
    const codes = JSON.parse(row.recovery) as readonly string[];
    const left = codes.filter((one) => one !== hashSecret(code.trim()));
    // Recovery codes cannot be guessed, so wrong guesses of others never lock their owner out.
    if (left.length < codes.length) return { last_step: row.last_step, recovery: JSON.stringify(left) };
    const guess = guesses.take(row.user_id);
    if (guess !== null && !guess.allowed)
      throw new PlatformError("rate_limited", {
        message: "Too many codes. Wait, use a recovery code, or sign in with an API token.",
        headers: { "retry-after": String(guess.resetSeconds) },
      });
    const secret = seals().open(row.secret, context(row.user_id)).toString();
    const step = totpStep(secret, code.replaceAll(" ", ""), clock.nowMs(), row.last_step);
    if (step === undefined) throw new PlatformError("wrong_code", { source: "/code" });
    return { last_step: step, recovery: row.recovery };
  }

  const view = (row: TotpRow | undefined): Totp => ({
    enabled: isEnabled(row),
    recovery_codes_left: isEnabled(row) ? (JSON.parse(row?.recovery ?? "[]") as string[]).length : 0,
  });

  return {
    get: async (call) => view(await findTotp(store.read, ownUser(call))),
    start: async (call, currentPassword) => {
      const { id: userId, email } = await userWithPassword({ store, passwords }, call, currentPassword);
      const secret = newTotpSecret();
      await commit({ store }, call, async (unit) => {
        if (isEnabled(await findTotp(unit.db, userId)))
          throw new PlatformError("totp_state", { message: "One-time codes are on already; end them first." });
        const sealed = seals().seal(secret, context(userId));
        await putTotp(unit.db, { user_id: userId, secret: sealed, recovery: "[]", last_step: 0, confirmed_on: null });
        unit.audit(auditOf("user.totp_start", call, userId));
      });
      return { secret, url: totpAddress(secret, ISSUER, email) };
    },
    confirm: async (call, code) => {
      const userId = ownUser(call);
      const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => newTokenSecret().slice(0, RECOVERY_LENGTH));
      await guesses.ready(userId);
      await commit({ store }, call, async (unit) => {
        const row = await findTotp(unit.db, userId);
        if (!row || isEnabled(row)) throw new PlatformError("totp_state");
        const { last_step } = used(row, code);
        const recovery = JSON.stringify(recoveryCodes.map(hashSecret));
        await updateTotp(unit.db, userId, { last_step, recovery, confirmed_on: isoMicros(clock.nowMicros()) });
        unit.audit(auditOf("user.totp_confirm", call, userId));
      });
      return { recovery_codes: recoveryCodes };
    },
    end: async (call, { code }) => {
      const userId = ownUser(call);
      if (code !== undefined) await guesses.ready(userId);
      await commit({ store }, call, async (unit) => {
        const row = await findTotp(unit.db, userId);
        if (!row) return;
        if (isEnabled(row) && !isByToken(call.actor)) {
          if (code === undefined) throw new PlatformError("code_required", { source: "/code" });
          used(row, code);
        }
        await deleteTotp(unit.db, userId);
        unit.audit(auditOf("user.totp_end", call, userId));
      });
      return view(undefined);
    },
    ready: async (userId) => guesses.ready(userId),
    check: async (db, userId, code) => {
      const row = await findTotp(db, userId);
      if (!row || !isEnabled(row)) return;
      if (code === undefined) throw new PlatformError("code_required", { source: "/code" });
      await updateTotp(db, userId, used(row, code));
    },
  };
}

const isEnabled = (row: TotpRow | undefined): boolean => row !== undefined && row.confirmed_on !== null;

const isByToken = ({ type, session_id }: Actor): boolean => type === "token" && session_id === undefined;

const auditOf = (action: string, call: Call, userId: string) => ({
  ...{ action, actor: auditActor(call), account_id: null, zone_id: null },
  resource: { type: "user", id: userId },
});
