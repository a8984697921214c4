import type { Actor } from "#control/call.ts";
import { isoMicros, type Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { findIdentity, identitiesOfUser, insertIdentity, touchIdentity } from "#store/access/identities.ts";
import { listMemberships } from "#store/access/memberships.ts";
import { findUser, findUserByEmail, type UserRow } from "#store/access/users.ts";
import type { Unit } from "#store/database/store.ts";
import type { ProviderConfig, ProviderIdentity } from "./provider.ts";

export interface ProviderUserDeps {
  readonly config: Pick<ProviderConfig, "issuer" | "emailDomains">;
  readonly clock: Clock;
}

/**
 * The user whom the provider has signed in: the one of an earlier sign-in, or the member or invited person with this verified address. It
 * never makes a user or a membership. Throws `provider_email` and `provider_no_user`.
 */
export async function userOfProvider(
  { config, clock }: ProviderUserDeps,
  unit: Unit,
  identity: ProviderIdentity,
  ip: string,
): Promise<UserRow> {
  const { issuer } = config;
  const { subject } = identity;
  if (identity.email === null) throw new PlatformError("provider_email", { detail: "the e-mail address is not verified" });
  const domain = identity.email.slice(identity.email.lastIndexOf("@") + 1);
  if (config.emailDomains.length > 0 && !config.emailDomains.includes(domain))
    throw new PlatformError("provider_email", { message: `Addresses of ${domain} may not sign in here.` });
  const known = await findIdentity(unit.db, issuer, subject);
  const user = known === undefined ? await findUserByEmail(unit.db, identity.email) : await findUser(unit.db, known.user_id);
  if (user === undefined) throw new PlatformError("provider_no_user");
  const memberships = await listMemberships(unit.db, user.id);
  if (!memberships.some(({ membership }) => membership.status !== "rejected")) throw new PlatformError("provider_no_user");
  const now = isoMicros(clock.nowMicros());
  if (known !== undefined) {
    await touchIdentity(unit.db, known, now);
    return user;
  }
  // A company may give the address of somebody who has left to somebody else, whom the provider knows by another subject.
  const others = await identitiesOfUser(unit.db, user.id);
  if (others.some((other) => other.issuer === issuer))
    throw new PlatformError("provider_no_user", { message: "Another person of the provider signs in as this user." });
  await insertIdentity(unit.db, { issuer, subject, user_id: user.id, created_on: now, last_used_on: now });
  unit.audit({
    ...{ action: "user.provider_link", actor: { type: "user", id: user.id, ip }, account_id: null, zone_id: null },
    resource: { type: "user", id: user.id },
    after: { issuer, subject },
  });
  return user;
}

/** The user, without any permission: for the session that begins. */
export const actorOf = ({ id, email }: UserRow, ip: string): Actor => ({
  ...{ type: "user", id, user_id: id, name: email, ip },
  ...{ grants: [], reach: new Map() },
});
