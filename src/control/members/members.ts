import type { Access } from "#control/access/access.ts";
import type { MailServer } from "#control/notifications/delivery/send-email.ts";
import type { Clock } from "#kernel/clock.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import type { Store } from "#store/database/store.ts";
import { type Accelerators, createAccelerators } from "./accelerators.ts";
import { createInvitationMail } from "./invitation-mail.ts";
import { createInvitations, type Invitations } from "./invitations.ts";
import { createOrganizationInvites, type OrganizationInvites } from "./organization-invites.ts";
import { createUserInvites, type UserInvites } from "./user-invites.ts";
import { createUserOrganizations, type UserOrganizations } from "./user-organizations.ts";
import { createOrganizations, type Organizations } from "./organizations.ts";

/** Invitations to accounts, and accounts under their older name. */
export interface Members {
  readonly invitations: Invitations;
  readonly organizations: Organizations;
  readonly organizationInvites: OrganizationInvites;
  readonly userInvites: UserInvites;
  readonly userOrganizations: UserOrganizations;
  readonly accelerators: Accelerators;
}

export interface MembersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly access: Pick<Access, "accounts" | "members" | "memberships" | "invalidateAll">;
  readonly mailServer?: MailServer | undefined;
  readonly dashboardUrl?: string;
  /** Limits that other servers count, too. */
  readonly sharedLimits?: SharedLimits | undefined;
}

export function createMembers(deps: MembersDeps): Members {
  const { store, clock, access } = deps;
  const { accounts, members, memberships } = access;
  const invitations = createInvitations({
    ...{ store, clock, invalidate: access.invalidateAll },
    mail: createInvitationMail(deps),
  });
  return {
    invitations,
    organizations: createOrganizations({ store, accounts }),
    organizationInvites: createOrganizationInvites({ store, clock, accounts, members, invitations }),
    userInvites: createUserInvites({ store, clock, memberships }),
    userOrganizations: createUserOrganizations(store),
    accelerators: createAccelerators({ store, clock }),
  };
}
