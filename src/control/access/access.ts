import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import { PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import type { PermissionGroupList, PermissionGroupView } from "#model/access/token.ts";
import type { Store } from "#store/database/store.ts";
import { type AccountMembers, createAccountMembers } from "./account-members.ts";
import { type Accounts, createAccounts } from "./accounts.ts";
import { type AuditEvents, createAuditEvents } from "#control/access/audit-events.ts";
import { AUDIT_RETENTION, type AuditLogs, type AuditLogsDeps, createAuditLogs } from "./audit-logs.ts";
import { type Authenticator, createAuthenticator } from "./authenticate.ts";
import { type Authorizer, createAuthorizer } from "./authorize.ts";
import { createPasskeyCheck, type PasskeyCheck } from "#control/sign-in/passkey-check.ts";
import { createPasskeys, type Passkeys } from "#control/sign-in/passkeys.ts";
import { createPasswordCheck } from "#control/sign-in/password-check.ts";
import type { ProviderConfig } from "#control/sign-in/provider.ts";
import { createProviderSignIn, type ProviderSignIn } from "#control/sign-in/provider-sign-in.ts";
import { createSignInChallenges } from "#control/sign-in/sign-in-challenges.ts";
import { createMemberships, type Memberships } from "./memberships.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import { createTokens, type Tokens } from "./tokens.ts";
import { createTotpControl, type TotpControl } from "#control/sign-in/totp.ts";
import { createUsers, type Users } from "./users.ts";

/** Authentication and authorization, and the resources that they depend on. */
export interface Access {
  readonly authenticate: Authenticator["authenticate"];
  readonly isFamiliar: Authenticator["isFamiliar"];
  readonly authorize: Authorizer["authorize"];
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly totp: TotpControl;
  readonly passkeys: Passkeys;
  readonly passkeyRequest: PasskeyCheck["request"];
  /** Undefined if the operator has configured none. */
  readonly provider: ProviderSignIn | undefined;
  readonly users: Users;
  readonly accounts: Accounts;
  readonly memberships: Memberships;
  readonly members: AccountMembers;
  readonly auditLogs: AuditLogs;
  readonly auditEvents: AuditEvents;
  permissionGroups(query: PermissionGroupList): readonly PermissionGroupView[];
  /** Drops the token from caches; writes of this process do so themselves. */
  invalidate(tokenId: string): void;
  /** Drops every credential from caches, because the permissions of any of them may have changed. */
  invalidateAll(): void;
  /** Drops the zone or account from caches. */
  invalidateScope(id: string): void;
  close(): void;
}

export interface AccessDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Null in commands that work on the database only, where no user signs in. */
  readonly sealer: Sealer | null;
  readonly auditRetention?: AuditLogsDeps["retention"];
  /** A company's provider of sign-in; absent: none. */
  readonly provider?: ProviderConfig | undefined;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
}

export function createAccess(deps: AccessDeps): Access {
  const { store, clock } = deps;
  const passwords = createPasswordCheck(deps);
  const totp = createTotpControl({ ...deps, passwords });
  const challenges = createSignInChallenges(deps);
  const passkeyCheck = createPasskeyCheck({ ...deps, challenges });
  const authenticator = createAuthenticator({ ...deps, passwords, passkeys: passkeyCheck });
  const authorizer = createAuthorizer(deps);
  const invalidateAccount = (accountId: string): void => {
    authorizer.invalidate(accountId);
    authenticator.invalidateAll();
  };
  const accounts = createAccounts({ store, clock, invalidate: invalidateAccount });
  return {
    authenticate: authenticator.authenticate,
    isFamiliar: authenticator.isFamiliar,
    authorize: authorizer.authorize,
    tokens: createTokens({ store, clock, invalidate: authenticator.invalidate }),
    users: createUsers(deps),
    sessions: createSessions({ store, clock, passwords, totp, provider: deps.provider, ended: authenticator.endSessions }),
    totp,
    passkeys: createPasskeys({ store, clock, passwords, challenges, ended: authenticator.endSessions }),
    passkeyRequest: passkeyCheck.request,
    provider:
      deps.provider === undefined || deps.sealer === null
        ? undefined
        : createProviderSignIn({ config: deps.provider, clock, sealer: deps.sealer, challenges, sharedLimits: deps.sharedLimits }),
    accounts,
    members: createAccountMembers({ store, invalidate: authenticator.invalidateAll }),
    auditEvents: createAuditEvents({ store }),
    auditLogs: createAuditLogs({ store, clock, retention: deps.auditRetention ?? AUDIT_RETENTION }),
    memberships: createMemberships({ store, clock, invalidate: authenticator.invalidateAll }),
    permissionGroups: ({ name, scope }) =>
      PERMISSION_GROUPS.filter(
        (group) => (name === undefined || group.name === name) && (scope === undefined || group.scopes.some((known) => known === scope)),
      ).map((group) => ({ ...group, scopes: [...group.scopes] })),
    invalidate: authenticator.invalidate,
    invalidateAll: authenticator.invalidateAll,
    invalidateScope: authorizer.invalidate,
    close: () => {
      authenticator.close();
      authorizer.close();
    },
  };
}
