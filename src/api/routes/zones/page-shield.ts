import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { PagePolicy, PagePolicyEdit, PagePolicyWrite } from "#model/rulesets/page-policy.ts";
import {
  PageConnection,
  PageCookie,
  PageCookieQuery,
  PageResourceQuery,
  PageScript,
  PageScriptDetails,
  PageShieldSettings,
  PageShieldUpdate,
} from "#model/zones/page-shield.ts";

const WRITERS = ["Page Shield", "Domain Page Shield", "Zone Settings Write"] as const;
const READERS = ["Page Shield Read", "Domain Page Shield Read", "Zone Settings Read", ...WRITERS] as const;
const READ = { method: "GET", scope: "zone", permissions: READERS } as const;
const WRITE = { scope: "zone", permissions: WRITERS, paging: "one" } as const;
const per_page = { default: 10, max: 100 } as const;

/** The paths had another name until 2022-10-11 (SPEC 9). */
const routesUnder = (segment: "page_shield" | "script_monitor"): readonly Route[] => {
  const path = `/zones/:zone_id/${segment}` as const;
  const id = segment.replace("_", "-");
  return [
    route({
      ...READ,
      path,
      id: `${id}-get`,
      summary: "Show whether browsers report what pages load",
      result: PageShieldSettings,
      paging: "one",
      handler: ({ control, resolved }) => control.pageShield.settings(zoneOf(resolved).id),
    }),
    route({
      ...WRITE,
      method: "PUT",
      path,
      id: `${id}-update`,
      summary: "Change whether browsers report what pages load",
      body: PageShieldUpdate,
      drops_unknown: [],
      result: PageShieldSettings,
      handler: ({ control, call, resolved, body }) => control.pageShield.update(call, zoneOf(resolved), body),
    }),
    route({
      ...READ,
      path: `${path}/scripts`,
      id: `${id}-scripts-list`,
      summary: "List scripts that pages load",
      query: PageResourceQuery,
      result: PageScript,
      paging: "page",
      per_page,
      handler: ({ control, resolved, query, page }) => control.pageShield.scripts(zoneOf(resolved).id, query, page),
    }),
    route({
      ...READ,
      path: `${path}/scripts/:script_id`,
      id: `${id}-scripts-get`,
      summary: "Show a script with the versions of its content",
      result: PageScriptDetails,
      paging: "one",
      handler: ({ control, resolved, params }) => control.pageShield.script(zoneOf(resolved).id, params.script_id),
    }),
    route({
      ...READ,
      path: `${path}/connections`,
      id: `${id}-connections-list`,
      summary: "List connections that scripts of pages open",
      query: PageResourceQuery,
      result: PageConnection,
      paging: "page",
      per_page,
      handler: ({ control, resolved, query, page }) => control.pageShield.connections(zoneOf(resolved).id, query, page),
    }),
    route({
      ...READ,
      path: `${path}/connections/:connection_id`,
      id: `${id}-connections-get`,
      summary: "Show a connection",
      result: PageConnection,
      paging: "one",
      handler: ({ control, resolved, params }) => control.pageShield.connection(zoneOf(resolved).id, params.connection_id),
    }),
    route({
      ...READ,
      path: `${path}/cookies`,
      id: `${id}-cookies-list`,
      summary: "List cookies that responses set",
      query: PageCookieQuery,
      result: PageCookie,
      paging: "page",
      per_page,
      handler: ({ control, resolved, query, page }) => control.pageShield.cookies(zoneOf(resolved).id, query, page),
    }),
    route({
      ...READ,
      path: `${path}/cookies/:cookie_id`,
      id: `${id}-cookies-get`,
      summary: "Show a cookie",
      result: PageCookie,
      paging: "one",
      handler: ({ control, resolved, params }) => control.pageShield.cookie(zoneOf(resolved).id, params.cookie_id),
    }),
    route({
      ...READ,
      path: `${path}/policies`,
      id: `${id}-policies-list`,
      summary: "List Content Security Policies",
      result: PagePolicy,
      paging: "list",
      handler: ({ control, resolved }) => control.pageShield.policies.list(zoneOf(resolved).id),
    }),
    route({
      ...WRITE,
      method: "POST",
      path: `${path}/policies`,
      id: `${id}-policies-create`,
      summary: "Create a Content Security Policy",
      body: PagePolicyWrite,
      drops_unknown: [],
      result: PagePolicy,
      handler: ({ control, call, resolved, body }) => control.pageShield.policies.create(call, zoneOf(resolved), body),
    }),
    route({
      ...READ,
      path: `${path}/policies/:policy_id`,
      id: `${id}-policies-get`,
      summary: "Show a Content Security Policy",
      result: PagePolicy,
      paging: "one",
      handler: ({ control, resolved, params }) => control.pageShield.policies.get(zoneOf(resolved).id, params.policy_id),
    }),
    route({
      ...WRITE,
      method: "PUT",
      path: `${path}/policies/:policy_id`,
      id: `${id}-policies-update`,
      summary: "Change a Content Security Policy",
      body: PagePolicyEdit,
      drops_unknown: [],
      result: PagePolicy,
      handler: ({ control, call, resolved, params, body }) =>
        control.pageShield.policies.update(call, zoneOf(resolved), params.policy_id, body),
    }),
    route({
      ...WRITE,
      method: "DELETE",
      path: `${path}/policies/:policy_id`,
      id: `${id}-policies-delete`,
      summary: "Delete a Content Security Policy",
      result: Type.Null(),
      status: 204,
      handler: ({ control, call, resolved, params }) => control.pageShield.policies.delete(call, zoneOf(resolved), params.policy_id),
    }),
  ];
};

export const PAGE_SHIELD_ROUTES: readonly Route[] = [...routesUnder("page_shield"), ...routesUnder("script_monitor")];
