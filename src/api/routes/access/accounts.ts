import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { PlaneNode } from "#model/access/node.ts";
import { ServerHealth } from "#model/access/server-health.ts";
import { Account, AccountCreate, AccountList, AccountUpdate } from "#model/access/account.ts";

const READ = ["Account Settings Read", "Account Settings Write"] as const;
const WRITE = ["Account Settings Write"] as const;

export const ACCOUNT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/accounts/:account_id/health",
    id: "account-health-get",
    summary: "Show whether the planes of this server answer",
    scope: "account",
    permissions: ["Account Settings Read", "Account Settings Write"],
    result: ServerHealth,
    paging: "one",
    handler: ({ control }) => control.serverHealth(),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/nodes",
    id: "account-nodes-list",
    summary: "List the machines that run planes only, and how far each has followed the changes",
    scope: "account",
    permissions: ["Account Settings Read", "Account Settings Write"],
    result: PlaneNode,
    paging: "list",
    handler: ({ control }) => control.nodes.list(),
  }),
  route({
    method: "GET",
    path: "/accounts",
    id: "accounts-list",
    summary: "List the accounts that the credential can access",
    scope: "open",
    permissions: [],
    query: AccountList,
    result: Account,
    paging: "page",
    per_page: { default: 20, max: 50, min: 5 },
    handler: ({ control, call, query, page }) => control.access.accounts.list(call, query, page),
  }),
  route({
    method: "POST",
    path: "/accounts",
    id: "accounts-create",
    summary: "Create an account",
    scope: "open",
    permissions: WRITE,
    body: AccountCreate,
    result: Account,
    paging: "one",
    handler: ({ control, call, body }) => control.access.accounts.create(call, body),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id",
    id: "accounts-get",
    summary: "Show an account",
    scope: "account",
    permissions: READ,
    result: Account,
    paging: "one",
    handler: ({ control, params }) => control.access.accounts.get(params.account_id),
  }),
  route({
    method: "PUT",
    path: "/accounts/:account_id",
    id: "accounts-update",
    summary: "Update an account",
    scope: "account",
    permissions: WRITE,
    body: AccountUpdate,
    result: Account,
    paging: "one",
    handler: ({ control, call, params, body }) => control.access.accounts.update(call, params.account_id, body),
  }),
  route({
    method: "DELETE",
    path: "/accounts/:account_id",
    id: "accounts-delete",
    summary: "Delete an account that is empty",
    scope: "account",
    permissions: WRITE,
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: ({ control, call, params }) => control.access.accounts.remove(call, params.account_id),
  }),
];
