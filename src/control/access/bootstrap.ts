import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { ACCOUNT_SETTINGS_DEFAULT } from "#model/access/account.ts";
import { OWNER_ROLE } from "#model/access/membership.ts";
import { isEmail } from "#model/access/user.ts";
import { insertAccount, oldestAccount } from "#store/access/accounts.ts";
import { insertMembership } from "#store/access/memberships.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { findTokenByHash, insertToken } from "#store/access/tokens.ts";
import { findUserByEmail, insertUser } from "#store/access/users.ts";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { firstTokenRow, UNSEEN_TOKEN } from "./first-token.ts";
import { isApiKey, isTokenSecret } from "#control/sign-in/secrets.ts";
import { emitToken } from "./tokens.ts";

export interface BootstrapConfig {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly email: string;
  /** Secret of the first token; random if absent. */
  readonly token?: string;
  /** The first user's API key for the e-mail and key form of SPEC 5.2. */
  readonly apiKey?: string;
}

/** A bootstrap setting that is ignored because the database already has an account. */
export interface IgnoredPreset {
  readonly key: "bootstrap.token" | "bootstrap.email" | "bootstrap.api_key";
  /** The database already has this value. */
  readonly isInUse: boolean;
}

export interface Bootstrapped {
  readonly account_id: string;
  /** The first token's secret, until a start has printed it. */
  readonly token: string | null;
  readonly ignored: readonly IgnoredPreset[];
}

/**
 * Creates the account, user, membership and first token, which has every permission, in an empty database. In any other
 * database, only finds the oldest account. `token` is the secret until `hashFirstToken` is called, so that a start that
 * fails before printing does not lose it, and null if it was preset. A preset token counts as changed, because the operator knows it.
 */
export async function bootstrap(config: BootstrapConfig): Promise<Bootstrapped> {
  if (config.token !== undefined && !isTokenSecret(config.token))
    throw new Error("the bootstrap token must be 8 to 256 letters, digits or - . _ ~ + / =");
  if (config.apiKey !== undefined && !isApiKey(config.apiKey))
    throw new Error("the bootstrap API key must be 16 to 128 letters, digits, - or _");
  if (!isEmail(config.email)) throw new Error(`the bootstrap e-mail address is not valid: ${config.email}`);
  const known = await oldestAccount(config.store.read);
  if (known) return { account_id: known.id, token: await unseenToken(config), ignored: await ignoredPresets(config) };
  const { result } = await config.store.write(async (unit) => {
    // Several nodes may start with one empty database.
    const other = await oldestAccount(unit.db);
    if (other) return { account_id: other.id, token: null };
    const account = { id: newId(), name: `${config.email}'s Account` };
    return { account_id: account.id, token: await createInstallation(unit, config, [account]) };
  });
  return { ...result, ignored: [] };
}

async function ignoredPresets({ store, email, token, apiKey }: BootstrapConfig): Promise<readonly IgnoredPreset[]> {
  const user = await findUserByEmail(store.read, email.toLowerCase());
  const ignored: IgnoredPreset[] = [];
  if (token !== undefined)
    ignored.push({ key: "bootstrap.token", isInUse: (await findTokenByHash(store.read, hashSecret(token))) !== undefined });
  if (user === undefined) ignored.push({ key: "bootstrap.email", isInUse: false });
  if (apiKey !== undefined) ignored.push({ key: "bootstrap.api_key", isInUse: user?.api_key_hash === hashSecret(apiKey) });
  return ignored;
}

async function unseenToken({ store, sealer }: BootstrapConfig): Promise<string | null> {
  const row = await store.read.selectFrom("secrets").select("value").where("name", "=", UNSEEN_TOKEN).executeTakeFirst();
  if (row === undefined) return null;
  const secret = sealer.open(row.value, UNSEEN_TOKEN).toString("utf8");
  // It may have been revoked or rolled before it was ever printed.
  return (await findTokenByHash(store.read, hashSecret(secret))) === undefined ? null : secret;
}

/** Creates the accounts, with one user who owns all of them and has the first token; returns its secret. */
export async function createInstallation(
  unit: Unit,
  { clock, sealer, email, token, apiKey }: Omit<BootstrapConfig, "store">,
  accounts: readonly { readonly id: string; readonly name: string }[],
): Promise<string | null> {
  const secret = token ?? newTokenSecret();
  const now = isoMicros(clock.nowMicros());
  const userId = newId();
  const settings = JSON.stringify(ACCOUNT_SETTINGS_DEFAULT);
  for (const account of accounts) await insertAccount(unit.db, { ...account, type: "standard", settings, created_on: now });
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
  for (const { id: account_id } of accounts)
    await insertMembership(unit.db, {
      ...{ id: newId(), account_id, user_id: userId },
      ...{ roles: JSON.stringify([OWNER_ROLE]), status: "accepted", created_on: now },
    });
  const row = firstTokenRow({ userId, secret, nowMicros: clock.nowMicros(), isPrinted: token === undefined });
  await insertToken(unit.db, row);
  await emitToken(unit, row);
  if (token === undefined) {
    const unseen = { name: UNSEEN_TOKEN, value: sealer.seal(secret, UNSEEN_TOKEN), created_on: now };
    await unit.db.insertInto("secrets").values(unseen).execute();
  }
  for (const { id } of accounts)
    unit.audit({
      action: "installation.create",
      actor: { type: "system", id: "bootstrap", ip: "" },
      account_id: id,
      zone_id: null,
      resource: { type: "account", id },
    });
  // Output is kept in journals: a secret that the operator knows need not be there.
  return token === undefined ? secret : null;
}
