import { type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { SignInChallengesTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type SignInChallengeRow = Selectable<SignInChallengesTable>;

/** Anyone can start a sign-in. Beyond this number, the challenges that end first make room. */
export const CHALLENGES_MAX = 10_000;
const MAKES_ROOM = 100;

export async function insertSignInChallenge(db: Kysely<Tables>, row: Insertable<SignInChallengesTable>, now: string): Promise<void> {
  await deleteInChunks(db, { table: "sign_in_challenges", key: ["hash"], where: sql`expires_on <= ${now}` });
  const { count } = await db
    .selectFrom("sign_in_challenges")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= CHALLENGES_MAX) {
    const first = db.selectFrom("sign_in_challenges").select("hash").orderBy("expires_on").orderBy("hash").limit(MAKES_ROOM);
    // few: at most MAKES_ROOM
    await db.deleteFrom("sign_in_challenges").where("hash", "in", first).execute();
  }
  await db.insertInto("sign_in_challenges").values(row).execute();
}

/** The challenge, which is used up; undefined if there was none for this purpose, or if it has ended. */
export async function takeSignInChallenge(
  db: Kysely<Tables>,
  { hash, purpose, now }: { readonly hash: string; readonly purpose: string; readonly now: string },
): Promise<SignInChallengeRow | undefined> {
  const row = await db
    .selectFrom("sign_in_challenges")
    .selectAll()
    .where("hash", "=", hash)
    .where("purpose", "=", purpose)
    .where("expires_on", ">", now)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  // few: the hash is the key
  const { numDeletedRows } = await db.deleteFrom("sign_in_challenges").where("hash", "=", hash).executeTakeFirst();
  return numDeletedRows === 1n ? row : undefined;
}
