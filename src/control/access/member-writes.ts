import type { Kysely } from "kysely";
import { auditActor, commit } from "#control/commit.ts";
import type { Call, Grant } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AccountMember, AccountMemberUpdate } from "#model/access/account-member.ts";
import { OWNER_ROLE, roleGroups, ROLES } from "#model/access/membership.ts";
import { PERMISSION_GROUPS, type PermissionGroupName, type PermissionScope } from "#model/access/permission-groups.ts";
import { deleteMembership, type MembershipRow, membershipsOfAccount, setMembershipRoles } from "#store/access/memberships.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import { missingGrant } from "./policies.ts";
import { emitUserTokens } from "./tokens.ts";

/**
 * Changes of an account's members. The caller needs every permission of the roles that a member gets or has, so that
 * nobody gains permissions by adding, changing or removing members.
 */
export interface MemberWrites {
  /** Throws `still_in_use` for the account's last owner. */
  update(call: Call, accountId: string, id: string, body: AccountMemberUpdate): Promise<AccountMember>;
  /** The same. */
  remove(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

export interface MemberWritesDeps {
  readonly store: Store;
  view(db: Kysely<Tables>, row: MembershipRow): Promise<AccountMember>;
  /** Drops from caches the credentials whose permissions changed. */
  invalidate(): void;
}

export function createMemberWrites({ store, view, invalidate }: MemberWritesDeps): MemberWrites {
  return {
    update: async (call, accountId, id, body) => {
      const names = namesOf(
        body.roles.map((role) => role.id),
        "/roles",
      );
      assertMayGive(call, accountId, names);
      const shown = await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, accountId, id);
        assertMayGive(call, accountId, JSON.parse(before.roles) as string[]);
        const after = { ...before, roles: JSON.stringify(names) };
        await assertNotLastOwner(unit.db, before, after);
        await setMembershipRoles(unit.db, id, after.roles);
        await emitUserTokens(unit, before.user_id);
        const [was, is] = [await view(unit.db, before), await view(unit.db, after)];
        auditMember(unit, call, "member.update", before, was, is);
        return is;
      });
      invalidate();
      return shown;
    },
    remove: async (call, accountId, id) => {
      await commit({ store }, call, async (unit) => {
        const before = await found(unit.db, accountId, id);
        assertMayGive(call, accountId, JSON.parse(before.roles) as string[]);
        await assertNotLastOwner(unit.db, before, null);
        await deleteMembership(unit.db, id);
        await emitUserTokens(unit, before.user_id);
        auditMember(unit, call, "member.remove", before, await view(unit.db, before), null);
      });
      invalidate();
      return { id };
    },
  };
}

export const auditMember = (
  unit: Unit,
  call: Call,
  action: string,
  row: MembershipRow,
  before: AccountMember | null,
  after: AccountMember | null,
): void =>
  unit.audit({
    action,
    actor: auditActor(call),
    account_id: row.account_id,
    zone_id: null,
    resource: { type: "membership", id: row.id },
    before,
    after,
  });

async function found(db: Kysely<Tables>, accountId: string, id: string): Promise<MembershipRow> {
  const row = (await membershipsOfAccount(db, accountId)).find((candidate) => candidate.id === id);
  if (row === undefined) throw new PlatformError("not_found", { message: "The account has no member with this identifier." });
  return row;
}

/** Names of roles, in the table's order. Throws for unknown ones. */
export function namesOf(ids: readonly string[], source: string): string[] {
  const unknown = ids.findIndex((id) => !ROLES.some((role) => role.id === id));
  if (unknown >= 0)
    throw new PlatformError("invalid_input", {
      message: "No role has this identifier; GET /accounts/{account_id}/roles lists them.",
      source: `${source}/${unknown}`,
    });
  return ROLES.filter((role) => ids.includes(role.id)).map(({ name }) => name);
}

/** Throws `authentication_error` if the caller lacks a permission of the roles. */
export function assertMayGive(call: Call, accountId: string, names: readonly string[]): void {
  const missing = missingGrant(call.actor, grantsOf(accountId, names));
  if (missing !== null)
    throw new PlatformError("authentication_error", {
      message: `Changing this member needs every permission of its roles: "${missing.group}" is missing.`,
    });
}

/** The permissions of roles in the account and in its zones. Permissions for users are not part of a role. */
function grantsOf(accountId: string, names: readonly string[]): readonly Grant[] {
  const held = roleGroups(names);
  const groups = (scope: PermissionScope): ReadonlySet<PermissionGroupName> =>
    new Set(
      PERMISSION_GROUPS.filter(({ scopes }) => scopes.includes(scope))
        .map(({ name }) => name as PermissionGroupName)
        .filter((name) => held.has(name)),
    );
  return [
    { effect: "allow", level: "account", id: accountId, groups: groups("com.cloudflare.api.account") },
    { effect: "allow", level: "zone", account: accountId, id: "*", groups: groups("com.cloudflare.api.account.zone") },
  ];
}

type Standing = Pick<MembershipRow, "roles" | "status">;

const isOwner = ({ roles, status }: Standing): boolean => status === "accepted" && (JSON.parse(roles) as string[]).includes(OWNER_ROLE);

/** Throws `still_in_use` if the account would have no owner after the change; it could never be managed again. */
export async function assertNotLastOwner(db: Kysely<Tables>, before: MembershipRow, after: Standing | null): Promise<void> {
  if (!isOwner(before) || (after !== null && isOwner(after))) return;
  const owners = (await membershipsOfAccount(db, before.account_id)).filter(isOwner);
  if (owners.length === 1) throw new PlatformError("still_in_use", { message: "The account's last owner cannot leave it." });
}
