import { type Route, route } from "#api/route.ts";
import { Passkey, PasskeyCreate, PasskeyEdit, PasskeyId, PasskeyStart, PasskeyStarted } from "#model/access/passkey.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";

const READ: readonly PermissionGroupName[] = ["User Details Read", "User Details Write"];
const WRITE: readonly PermissionGroupName[] = ["User Details Write"];

export const PASSKEY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/user/passkeys",
    id: "user-passkeys-list",
    summary: "List the passkeys of the calling user",
    scope: "user",
    permissions: READ,
    result: Passkey,
    paging: "list",
    handler: ({ control, call }) => control.access.passkeys.list(call),
  }),
  route({
    method: "POST",
    path: "/user/passkeys/options",
    id: "user-passkeys-start",
    summary: "Get what a browser needs to make a passkey for the calling user (WebAuthn)",
    scope: "user",
    permissions: WRITE,
    body: PasskeyStart,
    result: PasskeyStarted,
    paging: "one",
    handler: ({ control, call, body }) => control.access.passkeys.start(call, body),
  }),
  route({
    method: "POST",
    path: "/user/passkeys",
    id: "user-passkeys-create",
    summary: "Add the passkey that the browser has made",
    scope: "user",
    permissions: WRITE,
    body: PasskeyCreate,
    result: Passkey,
    paging: "one",
    handler: ({ control, call, body }) => control.access.passkeys.create(call, body),
  }),
  route({
    method: "PATCH",
    path: "/user/passkeys/:passkey_id",
    id: "user-passkeys-edit",
    summary: "Rename a passkey of the calling user",
    scope: "user",
    permissions: WRITE,
    body: PasskeyEdit,
    result: Passkey,
    paging: "one",
    handler: ({ control, call, params, body }) => control.access.passkeys.edit(call, params.passkey_id, body),
  }),
  route({
    method: "DELETE",
    path: "/user/passkeys/:passkey_id",
    id: "user-passkeys-delete",
    summary: "Delete a passkey of the calling user; ends the sessions that began with it",
    scope: "user",
    permissions: WRITE,
    result: PasskeyId,
    paging: "one",
    handler: ({ control, call, params }) => control.access.passkeys.remove(call, params.passkey_id),
  }),
];
