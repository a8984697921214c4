import { auditActor, commit } from "#control/commit.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type Membership, type MembershipList, type MembershipUpdate } from "#model/access/membership.ts";
import {
  deleteMembership,
  findMembership,
  listMemberships,
  type MembershipOfAccount,
  setMembershipStatus,
} from "#store/access/memberships.ts";
import { deleteInvitation, findInvitation } from "#store/access/invitations.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import type { Store } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { Kysely } from "kysely";
import { accountView } from "./accounts.ts";
import { emitUserTokens } from "./tokens.ts";
import { assertNotLastOwner } from "./member-writes.ts";
import { ownUser } from "#control/sign-in/own-user.ts";

/** The caller's own memberships in accounts. */
export interface Memberships {
  list(call: Call, query: MembershipList, page: PageRequest): Promise<Page<Membership>>;
  get(call: Call, id: string): Promise<Membership>;
  /** Accepts or rejects an invitation. */
  update(call: Call, id: string, body: MembershipUpdate): Promise<Membership>;
  /** Leaves the account. Throws for its last owner. */
  remove(call: Call, id: string): Promise<{ id: string }>;
}

export interface MembershipsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Drops from caches the credentials whose permissions changed. */
  invalidate(): void;
}

export function createMemberships(deps: MembershipsDeps): Memberships {
  const { store, clock } = deps;
  return {
    list: async (call, query, page) => {
      const all = (await listMemberships(store.read, ownUser(call))).map(membershipView).filter((membership) => fits(membership, query));
      const key = ORDERS[query.order ?? "id"];
      const sorted = query.order === undefined ? all : all.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
      const ordered = query.direction === "desc" ? sorted.toReversed() : sorted;
      return { items: ordered.slice((page.page - 1) * page.per_page, page.page * page.per_page), ...page, total_count: all.length };
    },
    get: async (call, id) => membershipView(await found(store.read, call, id)),
    update: async (call, id, body) => {
      const userId = ownUser(call);
      const after = await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, call, id);
        if (body.status === "rejected") await assertNotLastOwner(unit.db, before.membership, null);
        else await assertNotEnded(unit.db, id, clock.nowMs());
        await deleteInvitation(unit.db, id);
        await setMembershipStatus(unit.db, id, body.status);
        await emitUserTokens(unit, userId);
        const changed = await found(unit.db, call, id);
        unit.audit(auditMembership("membership.update", call, before, membershipView(before), membershipView(changed)));
        return changed;
      });
      deps.invalidate();
      return membershipView(after);
    },
    remove: async (call, id) => {
      const userId = ownUser(call);
      await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, call, id);
        await assertNotLastOwner(unit.db, before.membership, null);
        await deleteMembership(unit.db, id);
        await emitUserTokens(unit, userId);
        unit.audit(auditMembership("membership.delete", call, before, membershipView(before), null));
      });
      deps.invalidate();
      return { id };
    },
  };
}

async function assertNotEnded(db: Kysely<Tables>, id: string, nowMs: number): Promise<void> {
  const ended = parseTimestamp((await findInvitation(db, id))?.expires_on ?? "");
  if (ended !== undefined && ended <= nowMs)
    throw new PlatformError("not_found", { message: "The invitation has ended; ask for another one." });
}

const ORDERS: Readonly<Record<NonNullable<MembershipList["order"]>, (membership: Membership) => string>> = {
  id: (membership) => membership.id,
  "account.name": (membership) => membership.account.name,
  status: (membership) => membership.status,
};

const fits = (membership: Membership, query: MembershipList): boolean => {
  const name = query["account.name"] ?? query.name;
  return (name === undefined || membership.account.name === name) && (query.status === undefined || membership.status === query.status);
};

async function found(db: Kysely<Tables>, call: Call, id: string): Promise<MembershipOfAccount> {
  const row = await findMembership(db, ownUser(call), id);
  if (!row) throw new PlatformError("not_found", { message: "No membership with this identifier exists." });
  return row;
}

const membershipView = ({ membership, account }: MembershipOfAccount): Membership => ({
  id: membership.id,
  status: membership.status === "pending" || membership.status === "rejected" ? membership.status : "accepted",
  account: accountView(account),
  api_access_enabled: null,
  roles: JSON.parse(membership.roles) as string[],
});

const auditMembership = (
  action: string,
  call: Call,
  { membership }: MembershipOfAccount,
  before: Membership | null,
  after: Membership | null,
) => ({
  action,
  actor: auditActor(call),
  account_id: membership.account_id,
  zone_id: null,
  resource: { type: "membership", id: membership.id },
  before,
  after,
});
