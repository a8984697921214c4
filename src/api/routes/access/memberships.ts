import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { Membership, MembershipList, MembershipUpdate } from "#model/access/membership.ts";

const READ = ["Memberships Read", "Memberships Write"] as const;
const WRITE = ["Memberships Write"] as const;

export const MEMBERSHIP_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/memberships",
    id: "memberships-list",
    summary: "List the calling user's memberships of accounts",
    scope: "user",
    permissions: READ,
    query: MembershipList,
    result: Membership,
    paging: "page",
    per_page: { default: 20, max: 50, min: 5 },
    handler: ({ control, call, query, page }) => control.access.memberships.list(call, query, page),
  }),
  route({
    method: "GET",
    path: "/memberships/:membership_id",
    id: "memberships-get",
    summary: "Show a membership",
    scope: "user",
    permissions: READ,
    result: Membership,
    paging: "one",
    handler: ({ control, call, params }) => control.access.memberships.get(call, params.membership_id),
  }),
  route({
    method: "PUT",
    path: "/memberships/:membership_id",
    id: "memberships-update",
    summary: "Accept or reject a membership",
    scope: "user",
    permissions: WRITE,
    body: MembershipUpdate,
    result: Membership,
    paging: "one",
    handler: ({ control, call, params, body }) => control.access.memberships.update(call, params.membership_id, body),
  }),
  route({
    method: "DELETE",
    path: "/memberships/:membership_id",
    id: "memberships-delete",
    summary: "Leave an account",
    scope: "user",
    permissions: WRITE,
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: ({ control, call, params }) => control.access.memberships.remove(call, params.membership_id),
  }),
];
