import { Type } from "typebox";
import { type Resolved, type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { Accelerator, AcceleratorCreate, AcceleratorEdit, AcceleratorZone } from "#model/access/accelerator.ts";
import { OrganizationInvite, OrganizationInviteCreate, OrganizationMemberEdit } from "#model/access/organization.ts";

const INVITES = "/organizations/:account_id/invites";
const INVITE = `${INVITES}/:invite_id` as const;
const ACCELERATORS = "/organizations/:account_id/accelerators";
const ACCELERATOR = `${ACCELERATORS}/:accelerator_id` as const;

const read = { method: "GET", scope: "account", permissions: ["Account Settings Read", "Account Settings Write"] } as const;
const write = { scope: "account", permissions: ["Account Settings Write"], paging: "one" } as const;
const Deleted = Type.Object({ id: Type.String() });

function idOf({ account }: Resolved): string {
  if (account === null) throw new PlatformError("unauthorized_resource");
  return account.id;
}

/** The parts of the organizations API that are about more than the account itself (SPEC 9, 2020-04-02). */
export const ORGANIZATION_INVITE_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: INVITES,
    id: "organization-invites-list",
    summary: "List the invitations to an organization that are not accepted",
    result: OrganizationInvite,
    paging: "list",
    handler: ({ control, resolved }) => control.organizationInvites.list(idOf(resolved)),
  }),
  route({
    ...write,
    method: "POST",
    path: INVITES,
    id: "organization-invites-create",
    summary: "Invite somebody to an organization",
    body: OrganizationInviteCreate,
    result: OrganizationInvite,
    handler: ({ control, call, resolved, body }) => control.organizationInvites.create(call, idOf(resolved), body),
  }),
  route({
    ...read,
    path: INVITE,
    id: "organization-invites-get",
    summary: "Show an invitation to an organization",
    result: OrganizationInvite,
    paging: "one",
    handler: ({ control, resolved, params }) => control.organizationInvites.get(idOf(resolved), params.invite_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: INVITE,
    id: "organization-invites-edit",
    summary: "Change the roles of an invitation",
    body: OrganizationMemberEdit,
    result: OrganizationInvite,
    handler: ({ control, call, resolved, params, body }) =>
      control.organizationInvites.edit(call, idOf(resolved), params.invite_id, body.roles),
  }),
  route({
    ...write,
    method: "DELETE",
    path: INVITE,
    id: "organization-invites-delete",
    summary: "Withdraw an invitation",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.organizationInvites.remove(call, idOf(resolved), params.invite_id),
  }),
  route({
    ...read,
    path: ACCELERATORS,
    id: "organization-accelerators-list",
    summary: "List the accelerators of an organization",
    result: Accelerator,
    paging: "list",
    handler: ({ control, resolved }) => control.accelerators.list(idOf(resolved)),
  }),
  route({
    ...write,
    method: "POST",
    path: ACCELERATORS,
    id: "organization-accelerators-create",
    summary: "Create an accelerator",
    body: AcceleratorCreate,
    result: Accelerator,
    handler: ({ control, call, resolved, body }) => control.accelerators.create(call, idOf(resolved), body),
  }),
  route({
    ...read,
    path: ACCELERATOR,
    id: "organization-accelerators-get",
    summary: "Show an accelerator",
    result: Accelerator,
    paging: "one",
    handler: ({ control, resolved, params }) => control.accelerators.get(idOf(resolved), params.accelerator_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: ACCELERATOR,
    id: "organization-accelerators-edit",
    summary: "Rename or enable an accelerator",
    body: AcceleratorEdit,
    result: Accelerator,
    handler: ({ control, call, resolved, params, body }) => control.accelerators.edit(call, idOf(resolved), params.accelerator_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: ACCELERATOR,
    id: "organization-accelerators-delete",
    summary: "Delete an accelerator",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.accelerators.remove(call, idOf(resolved), params.accelerator_id),
  }),
  route({
    ...read,
    path: `${ACCELERATOR}/zones`,
    id: "organization-accelerators-zones",
    summary: "List the zones that an accelerator has",
    result: AcceleratorZone,
    paging: "list",
    handler: ({ control, resolved, params }) => control.accelerators.zones(idOf(resolved), params.accelerator_id),
  }),
];
