import type { Call } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { findUser, type UserRow } from "#store/access/users.ts";
import type { Store } from "#store/database/store.ts";
import type { PasswordCheck } from "./password-check.ts";
import { ownUser } from "./own-user.ts";

export interface OwnPasswordDeps {
  readonly store: Store;
  readonly passwords: PasswordCheck;
}

/**
 * The caller's user, who has just proven to be there: before ways to sign in are added, because these outlive the session or token of
 * the call. Throws `wrong_password`. Without a password, it takes the session of the user, which no limited token begins.
 */
export async function userWithPassword({ store, passwords }: OwnPasswordDeps, call: Call, password: string | undefined): Promise<UserRow> {
  const user = await findUser(store.read, ownUser(call));
  if (user === undefined) throw new PlatformError("authentication_error");
  if (user.password_hash === null && call.actor.type === "user") return user;
  await passwords.userOf(user.email, password ?? "", call.actor.ip).catch((error: unknown) => {
    if (!(error instanceof PlatformError && error.errorName === "wrong_password")) throw error;
    throw new PlatformError("wrong_password", { message: "The current password is wrong.", source: "/current_password" });
  });
  return user;
}
