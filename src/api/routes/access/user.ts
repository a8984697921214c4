import { type Route, route } from "#api/route.ts";
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
];
