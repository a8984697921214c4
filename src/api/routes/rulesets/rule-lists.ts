import { Type } from "typebox";
import { type Resolved, type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  RuleList,
  RuleListCreate,
  RuleListItem,
  RuleListItemsDelete,
  RuleListItemsWrite,
  RuleListOperation,
  RuleListOperationId,
  RuleListUpdate,
} from "#model/rulesets/rule-list.ts";

const WRITE = ["Account Rule Lists Write", "Account Rulesets Write", "Account WAF Write"] as const;
const READ = ["Account Rule Lists Read", "Account Rulesets Read", "Account WAF Read", ...WRITE] as const;

const LISTS = "/accounts/:account_id/rules/lists";
const read = { scope: "account", method: "GET", permissions: READ } as const;
const write = { scope: "account", permissions: WRITE, paging: "one" } as const;
/** Five values for each of the most items that a list has by default (rules.list_items_max). */
const VALUES_MAX = 500_000;

/** Routes of scope `account` are called with the account resolved. */
function accountOf(resolved: Resolved): string {
  if (resolved.account === null) throw new PlatformError("unauthorized_resource");
  return resolved.account.id;
}

export const RULE_LIST_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: LISTS,
    id: "rule-lists-list",
    summary: "List the account's lists",
    result: RuleList,
    paging: "list",
    handler: ({ control, resolved }) => control.ruleLists.list(accountOf(resolved)),
  }),
  route({
    ...write,
    method: "POST",
    path: LISTS,
    id: "rule-lists-create",
    summary: "Create an empty list",
    body: RuleListCreate,
    result: RuleList,
    handler: ({ control, call, resolved, body }) => control.ruleLists.create(call, accountOf(resolved), body),
  }),
  route({
    ...read,
    path: `${LISTS}/bulk_operations/:operation_id`,
    id: "rule-lists-operation-get",
    summary: "Show the status of an operation on a list's items",
    result: RuleListOperation,
    paging: "one",
    handler: ({ control, resolved, params }) => control.ruleListItems.operation(accountOf(resolved), params.operation_id),
  }),
  route({
    ...read,
    path: `${LISTS}/:list_id`,
    id: "rule-lists-get",
    summary: "Show a list",
    result: RuleList,
    paging: "one",
    handler: ({ control, resolved, params }) => control.ruleLists.get(accountOf(resolved), params.list_id),
  }),
  route({
    ...write,
    method: "PUT",
    path: `${LISTS}/:list_id`,
    id: "rule-lists-update",
    summary: "Change a list's description",
    body: RuleListUpdate,
    result: RuleList,
    handler: ({ control, call, resolved, params, body }) => control.ruleLists.update(call, accountOf(resolved), params.list_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${LISTS}/:list_id`,
    id: "rule-lists-delete",
    summary: "Delete a list that no rule uses",
    result: Type.Object({ id: Type.String() }),
    handler: ({ control, call, resolved, params }) => control.ruleLists.delete(call, accountOf(resolved), params.list_id),
  }),
  route({
    ...read,
    path: `${LISTS}/:list_id/items`,
    id: "rule-lists-items-list",
    summary: "List the items of a list",
    query: Type.Object({ search: Type.Optional(Type.String({ maxLength: 200, description: "Part of an item or its comment." })) }),
    result: RuleListItem,
    paging: "cursor",
    per_page: { default: 500, max: 500 },
    handler: ({ control, resolved, params, query, cursor }) =>
      control.ruleListItems.list(accountOf(resolved), params.list_id, cursor, query.search),
  }),
  route({
    ...write,
    method: "POST",
    path: `${LISTS}/:list_id/items`,
    id: "rule-lists-items-create",
    summary: "Add items to a list",
    body: RuleListItemsWrite,
    values_max: VALUES_MAX,
    result: RuleListOperationId,
    handler: ({ control, call, resolved, params, body }) => control.ruleListItems.add(call, accountOf(resolved), params.list_id, body),
  }),
  route({
    ...write,
    method: "PUT",
    path: `${LISTS}/:list_id/items`,
    id: "rule-lists-items-replace",
    summary: "Replace all items of a list",
    body: RuleListItemsWrite,
    values_max: VALUES_MAX,
    result: RuleListOperationId,
    handler: ({ control, call, resolved, params, body }) => control.ruleListItems.replace(call, accountOf(resolved), params.list_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${LISTS}/:list_id/items`,
    id: "rule-lists-items-delete",
    summary: "Delete items of a list",
    body: RuleListItemsDelete,
    values_max: VALUES_MAX,
    result: RuleListOperationId,
    handler: ({ control, call, resolved, params, body }) => control.ruleListItems.remove(call, accountOf(resolved), params.list_id, body),
  }),
  route({
    ...read,
    path: `${LISTS}/:list_id/items/:item_id`,
    id: "rule-lists-items-get",
    summary: "Show an item of a list",
    result: RuleListItem,
    paging: "one",
    handler: ({ control, resolved, params }) => control.ruleListItems.get(accountOf(resolved), params.list_id, params.item_id),
  }),
];
