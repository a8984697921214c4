import { type Resolved, type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { AccountMember, AccountMemberCreate, AccountMemberQuery, AccountMemberUpdate, AccountRole } from "#model/access/account-member.ts";
import { Type } from "typebox";
import { AuditEvent, AuditEventQuery } from "#model/access/audit-event.ts";
import { AuditLog, AuditLogQuery } from "#model/access/audit-log.ts";

const ACCOUNT = "/accounts/:account_id";
const read = { method: "GET", scope: "account", permissions: ["Account Settings Read", "Account Settings Write"] } as const;
const write = { scope: "account", permissions: ["Account Settings Write"], paging: "one" } as const;
const Deleted = Type.Object({ id: Type.String() });
const pages = { paging: "page", per_page: { default: 20, max: 50, min: 5 } } as const;

function idOf({ account }: Resolved): string {
  if (account === null) throw new PlatformError("unauthorized_resource");
  return account.id;
}

/** The members of the organizations API, which ended (SPEC 9, 2020-04-02), in the Accounts API. */
export const ACCOUNT_MEMBER_ROUTES: readonly Route[] = [
  route({
    ...read,
    ...pages,
    path: `${ACCOUNT}/members`,
    id: "account-members-list",
    summary: "List the members of an account",
    query: AccountMemberQuery,
    result: AccountMember,
    handler: ({ control, resolved, query, page }) => control.access.members.list(idOf(resolved), query, page),
  }),
  route({
    ...read,
    path: `${ACCOUNT}/members/:account_member_id`,
    id: "account-members-get",
    summary: "Show a member of an account",
    result: AccountMember,
    paging: "one",
    handler: ({ control, resolved, params }) => control.access.members.get(idOf(resolved), params.account_member_id),
  }),
  route({
    ...write,
    method: "POST",
    path: `${ACCOUNT}/members`,
    id: "account-members-create",
    summary: "Invite somebody to an account",
    body: AccountMemberCreate,
    result: AccountMember,
    handler: ({ control, call, resolved, body }) => control.invitations.invite(call, idOf(resolved), body),
  }),
  route({
    ...write,
    method: "PUT",
    path: `${ACCOUNT}/members/:account_member_id`,
    id: "account-members-update",
    summary: "Change the roles of a member",
    body: AccountMemberUpdate,
    result: AccountMember,
    handler: ({ control, call, resolved, params, body }) =>
      control.access.members.update(call, idOf(resolved), params.account_member_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${ACCOUNT}/members/:account_member_id`,
    id: "account-members-delete",
    summary: "Remove a member from an account",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.access.members.remove(call, idOf(resolved), params.account_member_id),
  }),
  route({
    ...read,
    ...pages,
    path: `${ACCOUNT}/roles`,
    id: "account-roles-list",
    summary: "List the roles that members can have",
    result: AccountRole,
    handler: async ({ control, page }) => control.access.members.roles(page),
  }),
  route({
    ...read,
    path: `${ACCOUNT}/roles/:account_role_id`,
    id: "account-roles-get",
    summary: "Show a role",
    result: AccountRole,
    paging: "one",
    handler: async ({ control, params }) => control.access.members.role(params.account_role_id),
  }),
  route({
    ...read,
    path: `${ACCOUNT}/audit_logs`,
    id: "account-audit-logs-list",
    summary: "List an account's audit log, newest first",
    query: AuditLogQuery,
    result: AuditLog,
    paging: "page",
    per_page: { default: 100, max: 1000 },
    handler: ({ control, resolved, query, page }) => control.access.auditLogs.list(idOf(resolved), query, page),
  }),
  route({
    ...read,
    path: `${ACCOUNT}/logs/audit`,
    id: "account-audit-events-list",
    summary: "List an account's audit log between two times, in its second form",
    query: AuditEventQuery,
    result: AuditEvent,
    paging: "cursor",
    per_page: { default: 100, max: 1000 },
    handler: ({ control, resolved, query, cursor }) => control.access.auditEvents.list(idOf(resolved), query, cursor),
  }),
];
