import { type Resolved, type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { AuditLog } from "#model/access/audit-log.ts";
import {
  Organization,
  OrganizationEdit,
  OrganizationMember,
  OrganizationMemberEdit,
  OrganizationRole,
} from "#model/access/organization.ts";
import { Type } from "typebox";

const ORGANIZATION = "/organizations/:account_id";
const read = { method: "GET", scope: "account", permissions: ["Account Settings Read", "Account Settings Write"] } as const;

function idOf({ account }: Resolved): string {
  if (account === null) throw new PlatformError("unauthorized_resource");
  return account.id;
}

/** Accounts under their older name (SPEC 9, 2020-04-02). */
export const ORGANIZATION_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: ORGANIZATION,
    id: "organizations-get",
    summary: "Show an account as an organization",
    result: Organization,
    paging: "one",
    handler: ({ control, resolved }) => control.organizations.get(idOf(resolved)),
  }),
  route({
    method: "PATCH",
    scope: "account",
    permissions: ["Account Settings Write"],
    path: ORGANIZATION,
    id: "organizations-edit",
    summary: "Rename an organization",
    body: OrganizationEdit,
    result: Organization,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.organizations.rename(call, idOf(resolved), body.name),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/members`,
    id: "organization-members-list",
    summary: "List the members of an organization",
    result: OrganizationMember,
    paging: "page",
    handler: ({ control, resolved, page }) => control.organizations.members(idOf(resolved), page),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/members/:member_id`,
    id: "organization-members-get",
    summary: "Show a member of an organization",
    result: OrganizationMember,
    paging: "one",
    handler: ({ control, resolved, params }) => control.organizations.member(idOf(resolved), params.member_id),
  }),
  route({
    method: "PATCH",
    scope: "account",
    permissions: ["Account Settings Write"],
    path: `${ORGANIZATION}/members/:member_id`,
    id: "organization-members-edit",
    summary: "Change the roles of a member of an organization",
    body: OrganizationMemberEdit,
    result: OrganizationMember,
    paging: "one",
    handler: async ({ control, call, resolved, params, body }) => {
      const roles = body.roles.map((id) => ({ id }));
      const { id } = await control.access.members.update(call, idOf(resolved), params.member_id, { roles });
      return control.organizations.member(idOf(resolved), id);
    },
  }),
  route({
    method: "DELETE",
    scope: "account",
    permissions: ["Account Settings Write"],
    path: `${ORGANIZATION}/members/:member_id`,
    id: "organization-members-delete",
    summary: "Remove a member from an organization",
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: ({ control, call, resolved, params }) => control.access.members.remove(call, idOf(resolved), params.member_id),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/roles`,
    id: "organization-roles-list",
    summary: "List the roles that members can have",
    result: OrganizationRole,
    paging: "list",
    handler: async ({ control }) => control.organizations.roles(),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/roles/:role_id`,
    id: "organization-roles-get",
    summary: "Show a role",
    result: OrganizationRole,
    paging: "one",
    handler: async ({ control, params }) => control.organizations.role(params.role_id),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/audit_logs`,
    id: "organization-audit-logs-list",
    summary: "List an organization's audit log, newest first",
    result: AuditLog,
    paging: "page",
    per_page: { default: 100, max: 1000 },
    handler: ({ control, resolved, page }) => control.access.auditLogs.list(idOf(resolved), {}, page),
  }),
];
