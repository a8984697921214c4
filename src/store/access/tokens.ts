import { type Insertable, type Kysely, type Selectable, type Updateable, sql } from "kysely";
import { deleteOwned } from "#store/queries/in-chunks.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { TokensTable } from "#store/tables/access.ts";

export type TokenRow = Selectable<TokensTable>;

/** The owner of tokens: an account or a user. */
export type TokenOwner = { readonly account_id: string } | { readonly user_id: string };

export const findTokenByHash = (db: Kysely<Tables>, hash: string): Promise<TokenRow | undefined> =>
  db.selectFrom("tokens").selectAll().where("hash", "=", hash).executeTakeFirst();

export const findToken = (db: Kysely<Tables>, owner: TokenOwner, id: string): Promise<TokenRow | undefined> =>
  owned(db, owner).selectAll().where("id", "=", id).executeTakeFirst();

/** The user's own tokens, without those of accounts. */
export const listUserTokens = (db: Kysely<Tables>, userId: string): Promise<TokenRow[]> =>
  owned(db, { user_id: userId }).selectAll().orderBy("id").execute();

export const listAccountTokens = (db: Kysely<Tables>, accountId: string): Promise<TokenRow[]> =>
  owned(db, { account_id: accountId }).selectAll().orderBy("id").execute();

export interface TokenFilter {
  readonly direction: "asc" | "desc";
  /** Omits tokens that expired before this time; null: includes them. */
  readonly ends_after: string | null;
}

export async function listTokens(
  db: Kysely<Tables>,
  owner: TokenOwner,
  filter: TokenFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: TokenRow[]; total: number }> {
  const endsAfter = filter.ends_after;
  const matching =
    endsAfter === null
      ? owned(db, owner)
      : owned(db, owner).where((eb) => eb.or([eb("expires_on", "is", null), eb("expires_on", ">", endsAfter)]));
  const counted = await matching.select((eb) => eb.fn.countAll().as("total")).executeTakeFirstOrThrow();
  const rows = await matching
    .selectAll()
    .orderBy("issued_on", filter.direction)
    .orderBy("id", filter.direction)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: Number(counted.total) };
}

export async function insertToken(db: Kysely<Tables>, row: Insertable<TokensTable>): Promise<void> {
  await db.insertInto("tokens").values(row).execute();
}

/** A new secret ends all sessions of the token, because somebody who knew the old one may have signed in. */
export async function updateToken(db: Kysely<Tables>, id: string, change: Updateable<TokensTable>): Promise<void> {
  if (change.hash !== undefined) {
    const rolled = db.selectFrom("tokens").select("id").where("id", "=", id).where("hash", "!=", change.hash);
    // few: a token has at most 50 sessions (control/access/sessions.ts)
    await db.deleteFrom("sessions").where("token_id", "in", rolled).execute();
  }
  await db.updateTable("tokens").set(change).where("id", "=", id).execute();
}

export async function deleteToken(db: Kysely<Tables>, id: string): Promise<void> {
  await deleteOwned(db, "tokens", sql`id = ${id}`);
  await db.deleteFrom("tokens").where("id", "=", id).execute();
}

export const countTokens = async (db: Kysely<Tables>, owner: TokenOwner): Promise<number> =>
  Number(
    (
      await owned(db, owner)
        .select((eb) => eb.fn.countAll().as("n"))
        .executeTakeFirstOrThrow()
    ).n,
  );

/** Whether a bootstrap token still has the secret that the first start printed. */
export const hasBootstrapToken = async (db: Kysely<Tables>): Promise<boolean> =>
  (await db.selectFrom("tokens").select("id").where("bootstrap", "=", 1).limit(1).executeTakeFirst()) !== undefined;

/** The bootstrap token, unless it was deleted. */
export const oldestUserToken = (db: Kysely<Tables>, userId: string): Promise<TokenRow | undefined> =>
  owned(db, { user_id: userId }).selectAll().orderBy("issued_on").orderBy("id").limit(1).executeTakeFirst();

export const findTokenById = (db: Kysely<Tables>, id: string): Promise<TokenRow | undefined> =>
  db.selectFrom("tokens").selectAll().where("id", "=", id).executeTakeFirst();

/** Every token, for rebuilding the snapshot. */
export const allTokens = (db: Kysely<Tables>): Promise<TokenRow[]> => db.selectFrom("tokens").selectAll().orderBy("id").execute();

const owned = (db: Kysely<Tables>, owner: TokenOwner) =>
  "account_id" in owner
    ? db.selectFrom("tokens").where("account_id", "=", owner.account_id)
    : db.selectFrom("tokens").where("user_id", "=", owner.user_id).where("account_id", "is", null);
