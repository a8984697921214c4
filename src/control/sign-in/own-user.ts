import type { Call } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/** The id of the caller's user; throws for an account's token, which has no user. */
export function ownUser(call: Call): string {
  if (call.actor.user_id === null) throw new PlatformError("authentication_error");
  return call.actor.user_id;
}
