import { auditActor, commit } from "#control/commit.ts";
import type { Call } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { User, UserEdit } from "#model/access/user.ts";
import { listMemberships } from "#store/access/memberships.ts";
import { plansOfAccounts } from "#store/access/scopes.ts";
import type { Store } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import { hasTotp } from "#store/access/totp.ts";
import { findUser, updateUser, type UserRow } from "#store/access/users.ts";
import { ownUser } from "#control/sign-in/own-user.ts";
import type { Kysely } from "kysely";

/** The caller's own user. */
export interface Users {
  get(call: Call): Promise<User>;
  edit(call: Call, body: UserEdit): Promise<User>;
}

const EDITABLE = ["first_name", "last_name", "telephone", "country", "zipcode"] as const satisfies readonly (keyof UserEdit)[];

export function createUsers({ store, clock }: { readonly store: Store; readonly clock: Clock }): Users {
  return {
    get: async (call) => userView(store.read, await own(store.read, call)),
    edit: async (call, body) => {
      const changed = Object.fromEntries(
        EDITABLE.filter((field) => body[field] !== undefined).map((field) => [field, body[field] ?? null]),
      );
      const row = await commit({ store }, call, async (unit) => {
        const before = await own(unit.db, call);
        const after: UserRow = { ...before, ...changed, modified_on: isoMicros(clock.nowMicros()) };
        await updateUser(unit.db, before.id, { ...changed, modified_on: after.modified_on });
        unit.audit({
          action: "user.edit",
          actor: auditActor(call),
          account_id: null,
          zone_id: null,
          resource: { type: "user", id: before.id },
          before: editable(before),
          after: editable(after),
        });
        return after;
      });
      return userView(store.read, row);
    },
  };
}

async function own(db: Kysely<Tables>, call: Call): Promise<UserRow> {
  const row = await findUser(db, ownUser(call));
  if (!row) throw new PlatformError("authentication_error");
  return row;
}

const editable = (row: UserRow): object => Object.fromEntries(EDITABLE.map((field) => [field, row[field]]));

async function userView(db: Kysely<Tables>, row: UserRow): Promise<User> {
  const memberships = await listMemberships(db, row.id);
  const accepted = memberships.filter(({ membership }) => membership.status === "accepted");
  const plans = await plansOfAccounts(
    db,
    accepted.map(({ account }) => account.id),
  );
  return {
    id: row.id,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    telephone: row.telephone,
    country: row.country,
    zipcode: row.zipcode,
    two_factor_authentication_enabled: await hasTotp(db, row.id),
    two_factor_authentication_locked: false,
    suspended: false,
    organizations: accepted.map(({ membership, account }) => ({
      id: account.id,
      name: account.name,
      status: "member",
      roles: JSON.parse(membership.roles) as string[],
      permissions: [],
    })),
    betas: [],
    has_pro_zones: plans.has("pro"),
    has_business_zones: plans.has("business"),
    has_enterprise_zones: plans.has("enterprise"),
    created_on: row.created_on,
    modified_on: row.modified_on,
  };
}
