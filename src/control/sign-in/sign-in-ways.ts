import type { Kysely } from "kysely";
import { PlatformError } from "#kernel/errors/errors.ts";
import { listPasskeys } from "#store/access/passkeys.ts";
import { findUser, type UserRow } from "#store/access/users.ts";
import type { Tables } from "#store/queries/tables.ts";

/** Whether the user can sign in from a browser without an API token. */
export const canSignIn = async (db: Kysely<Tables>, user: Pick<UserRow, "id" | "password_hash">): Promise<boolean> =>
  user.password_hash !== null || (await listPasskeys(db, user.id)).length > 0;

/** Inside the transaction that ended one way to sign in: throws `last_sign_in` if no other is left. */
export async function assertOtherWay(db: Kysely<Tables>, userId: string): Promise<void> {
  const user = await findUser(db, userId);
  if (user === undefined || !(await canSignIn(db, user))) throw new PlatformError("last_sign_in");
}
