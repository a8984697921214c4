import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import { PERMISSION_GROUPS, type PermissionScope } from "#model/access/permission-groups.ts";
import type { TokenPolicy } from "#model/access/token.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { insertToken, oldestUserToken, type TokenRow, updateToken } from "#store/access/tokens.ts";
import { oldestUser } from "#store/access/users.ts";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { emitToken } from "./tokens.ts";

export interface FirstToken {
  readonly userId: string;
  readonly secret: string;
  readonly nowMicros: number;
  /** The secret was generated and printed, so it may be on a screen or in a log. */
  readonly isPrinted: boolean;
}

/** The first user's token, which has every permission. */
export const firstTokenRow = ({ userId, secret, nowMicros, isPrinted }: FirstToken): TokenRow => ({
  id: newId(),
  account_id: null,
  user_id: userId,
  name: "First token",
  hash: hashSecret(secret),
  status: "active",
  policies: JSON.stringify(everyPermission(userId)),
  condition: null,
  not_before: null,
  expires_on: null,
  issued_on: isoMicros(nowMicros),
  modified_on: isoMicros(nowMicros),
  bootstrap: isPrinted ? 1 : 0,
  api_date: null,
});

/** Call when the operator has received the first token's secret; from then on only its hash is stored. */
export async function hashFirstToken(store: Store): Promise<void> {
  await store.write(forgetUnseen);
}

/** Name of the sealed secret of a first token that no start has printed yet. */
export const UNSEEN_TOKEN = "first-token";

const forgetUnseen = async ({ db }: Unit): Promise<void> => {
  await db.deleteFrom("secrets").where("name", "=", UNSEEN_TOKEN).execute();
};

/**
 * Resets the installation's first token to its initial state with a new secret: active, with every permission, for any
 * address and without expiry. Creates it again if it was deleted. For operators who have lost it, so it requires no
 * credential. Null if the installation has never started.
 */
export async function resetFirstToken({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<{ readonly id: string; readonly secret: string } | null> {
  const secret = newTokenSecret();
  const { result } = await store.write(async (unit) => {
    const user = await oldestUser(unit.db);
    if (user === undefined) return null;
    const fresh = firstTokenRow({ userId: user.id, secret, nowMicros: clock.nowMicros(), isPrinted: false });
    const before = await oldestUserToken(unit.db, user.id);
    const row = before === undefined ? fresh : { ...fresh, id: before.id, name: before.name, issued_on: before.issued_on };
    if (before === undefined) await insertToken(unit.db, row);
    else await updateToken(unit.db, before.id, row);
    await forgetUnseen(unit);
    await emitToken(unit, row);
    unit.audit({
      action: "token.reset",
      actor: { type: "system", id: "cli", ip: "" },
      account_id: null,
      zone_id: null,
      resource: { type: "token", id: row.id },
    });
    return { id: row.id, secret };
  });
  return result;
}

/** One policy per level, because a group only applies at its own level. */
const everyPermission = (userId: string): readonly TokenPolicy[] =>
  (
    [
      ["com.cloudflare.api.account", "com.cloudflare.api.account.*"],
      ["com.cloudflare.api.account.zone", "com.cloudflare.api.account.zone.*"],
      ["com.cloudflare.api.user", `com.cloudflare.api.user.${userId}`],
    ] as const satisfies readonly (readonly [PermissionScope, string])[]
  ).map(([scope, resource]) => ({
    id: newId(),
    effect: "allow",
    resources: { [resource]: "*" },
    permission_groups: PERMISSION_GROUPS.filter((group) => group.scopes.includes(scope)).map(({ id, name }) => ({ id, name })),
  }));
