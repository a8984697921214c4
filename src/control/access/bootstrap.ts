import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/ids.ts";
import type { Sealer } from "#kernel/seal.ts";
import { ACCOUNT_SETTINGS_DEFAULT } from "#model/account.ts";
import { OWNER_ROLE } from "#model/membership.ts";
import { PERMISSION_GROUPS, type PermissionScope } from "#model/permission-groups.ts";
import type { TokenPolicy } from "#model/token.ts";
import { isEmail } from "#model/user.ts";
import { insertAccount, oldestAccount } from "#store/accounts.ts";
import { insertMembership } from "#store/memberships.ts";
import type { Store, Unit } from "#store/store.ts";
import { insertToken, type TokenRow } from "#store/tokens.ts";
import { insertUser } from "#store/users.ts";
import { hashSecret } from "./authenticate.ts";
import { isApiKey, isTokenSecret } from "./secrets.ts";
import { emitToken } from "./tokens.ts";

export interface BootstrapConfig {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly email: string;
  /** Presets the first token's secret instead of making one up. */
  readonly token?: string;
  /** Presets the first user's key for the e-mail and key form of SPEC 5.2. */
  readonly apiKey?: string;
}

/**
 * Gives an empty database its account, user, membership and first token, which has every permission. On any
 * other database it only says which account is the oldest. `token` is the secret until `firstTokenShown`: a start
 * that fails before it has printed the secret must not lose it.
 */
export async function bootstrap(config: BootstrapConfig): Promise<{ account_id: string; token: string | null }> {
  if (config.token !== undefined && !isTokenSecret(config.token))
    throw new Error("the bootstrap token must be 8 to 256 letters, digits or - . _ ~ + / =");
  if (config.apiKey !== undefined && !isApiKey(config.apiKey))
    throw new Error("the bootstrap API key must be 16 to 128 letters, digits, - or _");
  if (!isEmail(config.email)) throw new Error(`the bootstrap e-mail address is not one: ${config.email}`);
  const known = await oldestAccount(config.store.read);
  if (known) return { account_id: known.id, token: await unseenToken(config) };
  const { result } = await config.store.write(async (unit) => {
    // Several nodes may start on one empty database.
    const other = await oldestAccount(unit.db);
    return other ? { account_id: other.id, token: null } : createAll(unit, config);
  });
  return result;
}

/** To be called once the operator has the first token's secret: from then on only its hash is stored. */
export async function firstTokenShown(store: Store): Promise<void> {
  await store.write(({ db }) => db.deleteFrom("secrets").where("name", "=", UNSEEN_TOKEN).execute());
}

const UNSEEN_TOKEN = "first-token";

async function unseenToken({ store, sealer }: BootstrapConfig): Promise<string | null> {
  const row = await store.read.selectFrom("secrets").select("value").where("name", "=", UNSEEN_TOKEN).executeTakeFirst();
  return row ? sealer.open(row.value, UNSEEN_TOKEN).toString("utf8") : null;
}

async function createAll(
  unit: Unit,
  { clock, sealer, email, token, apiKey }: BootstrapConfig,
): Promise<{ account_id: string; token: string }> {
  const secret = token ?? newTokenSecret();
  const now = isoMicros(clock.nowMicros());
  const [accountId, userId] = [newId(), newId()];
  await insertAccount(unit.db, {
    id: accountId,
    name: `${email}'s Account`,
    type: "standard",
    settings: JSON.stringify(ACCOUNT_SETTINGS_DEFAULT),
    created_on: now,
  });
  await insertUser(unit.db, {
    id: userId,
    email: email.toLowerCase(),
    first_name: null,
    last_name: null,
    telephone: null,
    country: null,
    zipcode: null,
    api_key_hash: apiKey === undefined ? null : hashSecret(apiKey),
    created_on: now,
    modified_on: now,
  });
  await insertMembership(unit.db, {
    id: newId(),
    account_id: accountId,
    user_id: userId,
    roles: JSON.stringify([OWNER_ROLE]),
    status: "accepted",
    created_on: now,
  });
  const row: TokenRow = {
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
    issued_on: now,
    modified_on: now,
    bootstrap: 1,
  };
  await insertToken(unit.db, row);
  await emitToken(unit, row);
  const unseen = { name: UNSEEN_TOKEN, value: sealer.seal(secret, UNSEEN_TOKEN), created_on: now };
  await unit.db.insertInto("secrets").values(unseen).execute();
  unit.audit({
    action: "installation.create",
    actor: { type: "system", id: "bootstrap", ip: "" },
    account_id: accountId,
    zone_id: null,
    resource: { type: "account", id: accountId },
  });
  return { account_id: accountId, token: secret };
}

/** One policy a level, since a group counts only at its own. */
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
