import { type Resolved, type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { AuditLog } from "#model/access/audit-log.ts";
import { Organization, OrganizationEdit, OrganizationMember, OrganizationRole } from "#model/access/organization.ts";

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
    handler: ({ control, resolved }) => control.access.organizations.get(idOf(resolved)),
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
    handler: ({ control, call, resolved, body }) => control.access.organizations.rename(call, idOf(resolved), body.name),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/members`,
    id: "organization-members-list",
    summary: "List the members of an organization",
    result: OrganizationMember,
    paging: "page",
    handler: ({ control, resolved, page }) => control.access.organizations.members(idOf(resolved), page),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/members/:member_id`,
    id: "organization-members-get",
    summary: "Show a member of an organization",
    result: OrganizationMember,
    paging: "one",
    handler: ({ control, resolved, params }) => control.access.organizations.member(idOf(resolved), params.member_id),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/roles`,
    id: "organization-roles-list",
    summary: "List the roles that members can have",
    result: OrganizationRole,
    paging: "list",
    handler: async ({ control }) => control.access.organizations.roles(),
  }),
  route({
    ...read,
    path: `${ORGANIZATION}/roles/:role_id`,
    id: "organization-roles-get",
    summary: "Show a role",
    result: OrganizationRole,
    paging: "one",
    handler: async ({ control, params }) => control.access.organizations.role(params.role_id),
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
