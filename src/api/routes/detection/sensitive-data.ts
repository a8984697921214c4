import { Type } from "typebox";
import { type Resolved, route, type Route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import type { Owner } from "#control/detection/objects.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import { SensitiveDataValues, SensitiveDataValuesQuery } from "#model/events/security-event.ts";
import {
  AllowedData,
  AllowedDataChange,
  AllowedDataCreate,
  SensitiveDataFindings,
  SensitiveDataPattern,
  SensitiveDataPatternChange,
  SensitiveDataPatternCreate,
  SensitiveDataScan,
} from "#model/detection/sensitive-data.ts";

const READ: ["Zone WAF Read", "Zone WAF Write"] = ["Zone WAF Read", "Zone WAF Write"];
const read = { method: "GET", scope: "zone", permissions: READ } as const;
const write = { scope: "zone", permissions: ["Zone WAF Write"], paging: "one" } as const;
const ALLOWED = "/zones/:zone_id/sensitive_data/allowed";
const Deleted = Type.Object({ id: Type.String() });

interface Level {
  readonly path: `/zones/:zone_id/${string}` | `/accounts/:account_id/${string}`;
  /** Prefix of the operations' names. */
  readonly id: string;
  readonly whose: string;
  readonly read: { readonly method: "GET"; readonly scope: "zone" | "account"; readonly permissions: readonly PermissionGroupName[] };
  readonly write: { readonly scope: "zone" | "account"; readonly permissions: readonly PermissionGroupName[]; readonly paging: "one" };
  owner(resolved: Resolved): Owner;
}

const ZONE: Level = {
  ...{ path: "/zones/:zone_id/sensitive_data/patterns", id: "", whose: "the zone's", read, write },
  owner: (resolved) => ({ zone: zoneOf(resolved) }),
};

const ACCOUNT: Level = {
  ...{ path: "/accounts/:account_id/sensitive_data/patterns", id: "account-", whose: "the account's" },
  read: { method: "GET", scope: "account", permissions: ["Account WAF Read", "Account WAF Write"] },
  write: { scope: "account", permissions: ["Account WAF Write"], paging: "one" },
  owner: ({ account }) => {
    if (account === null) throw new PlatformError("unauthorized_resource");
    return { account_id: account.id };
  },
};

export const SENSITIVE_DATA_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/zones/:zone_id/sensitive_data/scan",
    id: "sensitive-data-scan",
    summary: "Scan a text with sensitive data detection",
    scope: "zone",
    permissions: READ,
    body: SensitiveDataScan,
    result: SensitiveDataFindings,
    paging: "one",
    handler: ({ control, resolved, body }) => control.sensitiveData.scan(zoneOf(resolved), body),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/sensitive_data/values",
    id: "sensitive-data-values",
    summary: "List the sensitive values in a zone's events: when each was first and last seen, and how often",
    scope: "zone",
    permissions: [...READ, "Analytics Read", "Logs Read"],
    query: SensitiveDataValuesQuery,
    strict_query: true,
    result: SensitiveDataValues,
    paging: "one",
    handler: ({ control, params: { zone_id }, query }) => control.securityEvents.values({ zone_id }, query),
  }),
  route({
    ...read,
    path: ALLOWED,
    id: "sensitive-data-allowed-list",
    summary: "List the exceptions of sensitive data detection",
    result: AllowedData,
    paging: "list",
    handler: ({ control, resolved }) => control.sensitiveData.allowed.list({ zone: zoneOf(resolved) }),
  }),
  route({
    ...write,
    method: "POST",
    path: ALLOWED,
    id: "sensitive-data-allowed-create",
    summary: "Create an exception of sensitive data detection",
    body: AllowedDataCreate,
    result: AllowedData,
    handler: ({ control, call, resolved, body }) => control.sensitiveData.allowed.create(call, { zone: zoneOf(resolved) }, body),
  }),
  route({
    ...read,
    path: `${ALLOWED}/:allowed_id`,
    id: "sensitive-data-allowed-get",
    summary: "Show an exception of sensitive data detection",
    result: AllowedData,
    paging: "one",
    handler: ({ control, resolved, params }) => control.sensitiveData.allowed.get({ zone: zoneOf(resolved) }, params.allowed_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: `${ALLOWED}/:allowed_id`,
    id: "sensitive-data-allowed-edit",
    summary: "Change an exception of sensitive data detection",
    body: AllowedDataChange,
    result: AllowedData,
    handler: ({ control, call, resolved, params, body }) =>
      control.sensitiveData.allowed.update(call, { zone: zoneOf(resolved) }, params.allowed_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${ALLOWED}/:allowed_id`,
    id: "sensitive-data-allowed-delete",
    summary: "Delete an exception of sensitive data detection",
    result: Deleted,
    handler: ({ control, call, resolved, params }) =>
      control.sensitiveData.allowed.delete(call, { zone: zoneOf(resolved) }, params.allowed_id),
  }),
  ...patternRoutes(ZONE),
  ...patternRoutes(ACCOUNT),
];

/** The patterns of an account apply to all its zones. */
function patternRoutes(level: Level): readonly Route[] {
  return [
    route({
      ...level.read,
      path: level.path,
      id: `${level.id}sensitive-data-patterns-list`,
      summary: `List ${level.whose} custom types of sensitive data`,
      result: SensitiveDataPattern,
      paging: "list",
      handler: ({ control, resolved }) => control.sensitiveData.patterns.list(level.owner(resolved)),
    }),
    route({
      ...level.write,
      method: "POST",
      path: level.path,
      id: `${level.id}sensitive-data-patterns-create`,
      summary: `Create one of ${level.whose} custom types of sensitive data`,
      body: SensitiveDataPatternCreate,
      result: SensitiveDataPattern,
      handler: ({ control, call, resolved, body }) => control.sensitiveData.patterns.create(call, level.owner(resolved), body),
    }),
    route({
      ...level.read,
      path: `${level.path}/:pattern_id`,
      id: `${level.id}sensitive-data-patterns-get`,
      summary: `Show one of ${level.whose} custom types of sensitive data`,
      result: SensitiveDataPattern,
      paging: "one",
      handler: ({ control, resolved, params }) => control.sensitiveData.patterns.get(level.owner(resolved), params.pattern_id),
    }),
    route({
      ...level.write,
      method: "PATCH",
      path: `${level.path}/:pattern_id`,
      id: `${level.id}sensitive-data-patterns-edit`,
      summary: `Change one of ${level.whose} custom types of sensitive data`,
      body: SensitiveDataPatternChange,
      result: SensitiveDataPattern,
      handler: ({ control, call, resolved, params, body }) =>
        control.sensitiveData.patterns.update(call, level.owner(resolved), params.pattern_id, body),
    }),
    route({
      ...level.write,
      method: "DELETE",
      path: `${level.path}/:pattern_id`,
      id: `${level.id}sensitive-data-patterns-delete`,
      summary: `Delete one of ${level.whose} custom types of sensitive data`,
      result: Deleted,
      handler: ({ control, call, resolved, params }) =>
        control.sensitiveData.patterns.delete(call, level.owner(resolved), params.pattern_id),
    }),
  ];
}
