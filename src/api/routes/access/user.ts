import { type Route, route } from "#api/route.ts";
import { AuditLog, AuditLogQuery } from "#model/access/audit-log.ts";
import { User, UserEdit } from "#model/access/user.ts";

export const USER_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/user",
    id: "user-get",
    summary: "Show the calling user",
    scope: "user",
    permissions: ["User Details Read", "User Details Write"],
    result: User,
    paging: "one",
    handler: ({ control, call }) => control.access.users.get(call),
  }),
  route({
    method: "PATCH",
    path: "/user",
    id: "user-edit",
    summary: "Edit the calling user",
    scope: "user",
    permissions: ["User Details Write"],
    body: UserEdit,
    result: User,
    paging: "one",
    handler: ({ control, call, body }) => control.access.users.edit(call, body),
  }),
  route({
    method: "GET",
    path: "/user/audit_logs",
    id: "user-audit-logs-list",
    summary: "List what the calling user changed, newest first",
    scope: "user",
    permissions: ["User Details Read", "User Details Write"],
    query: AuditLogQuery,
    result: AuditLog,
    paging: "page",
    per_page: { default: 100, max: 1000 },
    handler: ({ control, call, query, page }) => control.access.auditLogs.listOwn(call, query, page),
  }),
];
