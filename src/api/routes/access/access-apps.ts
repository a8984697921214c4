import { Type } from "typebox";
import { type Resolved, type Route, route } from "#api/route.ts";
import { AccessApp, AccessAppQuery, AccessAppWrite, AccessBookmark, AccessBookmarkWrite } from "#model/access/access-app.ts";

const READ = ["Access: Apps and Policies Read", "Access: Apps and Policies Write"] as const;
const WRITE = ["Access: Apps and Policies Write"] as const;
const Deleted = Type.Object({ id: Type.String({ format: "uuid" }) });

/** The account or the zone that the path names. */
const ownerOf = ({ account, zone }: Resolved) => ({ account_id: zone?.account_id ?? account?.id ?? "", zone_id: zone?.id ?? null });

const routesOf = <S extends "account" | "zone">(scope: S): readonly Route[] => {
  const collection = scope === "account" ? "/accounts/:account_id/access/apps" : "/zones/:zone_id/access/apps";
  const item = `${collection}/:app_id` as "/accounts/:account_id/access/apps/:app_id";
  const shared = { scope, invalid_body: "access_app_invalid" } as const;
  const of = scope === "account" ? "an account" : "a zone";
  return [
    route({
      ...shared,
      permissions: READ,
      method: "GET",
      path: collection,
      id: `${scope}-access-apps-list`,
      summary: `List the Access applications of ${of}`,
      query: AccessAppQuery,
      result: AccessApp,
      paging: "page",
      per_page: { default: 1000, max: 1000 },
      handler: ({ control, resolved, query, page }) => control.accessApps.list(ownerOf(resolved), query, page),
    }),
    route({
      ...shared,
      permissions: WRITE,
      method: "POST",
      path: collection,
      id: `${scope}-access-apps-create`,
      summary: `Add an Access application to ${of}`,
      body: AccessAppWrite,
      result: AccessApp,
      paging: "one",
      status: 201,
      handler: ({ control, call, resolved, body }) => control.accessApps.create(call, ownerOf(resolved), body),
    }),
    route({
      ...shared,
      permissions: READ,
      method: "GET",
      path: item,
      id: `${scope}-access-apps-get`,
      summary: `Show an Access application of ${of}`,
      result: AccessApp,
      paging: "one",
      handler: ({ control, resolved, params }) => control.accessApps.get(ownerOf(resolved), params.app_id),
    }),
    route({
      ...shared,
      permissions: WRITE,
      method: "PUT",
      path: item,
      id: `${scope}-access-apps-update`,
      summary: `Replace an Access application of ${of}`,
      body: AccessAppWrite,
      result: AccessApp,
      paging: "one",
      handler: ({ control, call, resolved, params, body }) => control.accessApps.update(call, ownerOf(resolved), params.app_id, body),
    }),
    route({
      ...shared,
      permissions: WRITE,
      method: "DELETE",
      path: item,
      id: `${scope}-access-apps-delete`,
      summary: `Delete an Access application of ${of}`,
      result: Deleted,
      paging: "one",
      status: 202,
      handler: ({ control, call, resolved, params }) => control.accessApps.delete(call, ownerOf(resolved), params.app_id),
    }),
  ];
};

const BOOKMARKS = "/accounts/:account_id/access/bookmarks";
const BOOKMARK = "/accounts/:account_id/access/bookmarks/:bookmark_id";
const bookmark = { scope: "account", invalid_body: "access_app_invalid", paging: "one" } as const;

/** Ended on 2023-03-19 (SPEC 9): applications of the type bookmark replace them. */
const BOOKMARK_ROUTES: readonly Route[] = [
  route({
    ...bookmark,
    paging: "list",
    permissions: READ,
    method: "GET",
    path: BOOKMARKS,
    id: "access-bookmarks-list",
    summary: "List bookmarks",
    result: AccessBookmark,
    handler: ({ control, params }) => control.accessApps.bookmarks.list(params.account_id),
  }),
  route({
    ...bookmark,
    permissions: READ,
    method: "GET",
    path: BOOKMARK,
    id: "access-bookmarks-get",
    summary: "Show a bookmark",
    result: AccessBookmark,
    handler: ({ control, params }) => control.accessApps.bookmarks.get(params.account_id, params.bookmark_id),
  }),
  route({
    ...bookmark,
    permissions: WRITE,
    method: "POST",
    path: BOOKMARK,
    id: "access-bookmarks-create",
    summary: "Add a bookmark",
    body: AccessBookmarkWrite,
    result: AccessBookmark,
    handler: ({ control, call, params, body }) => control.accessApps.bookmarks.create(call, params.account_id, params.bookmark_id, body),
  }),
  route({
    ...bookmark,
    permissions: WRITE,
    method: "PUT",
    path: BOOKMARK,
    id: "access-bookmarks-update",
    summary: "Replace a bookmark",
    body: AccessBookmarkWrite,
    result: AccessBookmark,
    handler: ({ control, call, params, body }) => control.accessApps.bookmarks.update(call, params.account_id, params.bookmark_id, body),
  }),
  route({
    ...bookmark,
    permissions: WRITE,
    method: "DELETE",
    path: BOOKMARK,
    id: "access-bookmarks-delete",
    summary: "Delete a bookmark",
    result: Deleted,
    handler: ({ control, call, params }) => control.accessApps.bookmarks.delete(call, params.account_id, params.bookmark_id),
  }),
];

export const ACCESS_APP_ROUTES: readonly Route[] = [...routesOf("account"), ...routesOf("zone"), ...BOOKMARK_ROUTES];
