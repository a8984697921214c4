import { Type } from "typebox";
import { route, type Route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import {
  AllowedData,
  AllowedDataCreate,
  SensitiveDataFindings,
  SensitiveDataPattern,
  SensitiveDataPatternChange,
  SensitiveDataPatternCreate,
  SensitiveDataScan,
} from "#model/sensitive-data.ts";

const READ: ["Zone WAF Read", "Zone WAF Write"] = ["Zone WAF Read", "Zone WAF Write"];
const read = { method: "GET", scope: "zone", permissions: READ } as const;
const write = { scope: "zone", permissions: ["Zone WAF Write"], paging: "one" } as const;
const ALLOWED = "/zones/:zone_id/sensitive_data/allowed";
const PATTERNS = "/zones/:zone_id/sensitive_data/patterns";
const Deleted = Type.Object({ id: Type.String() });

export const SENSITIVE_DATA_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/zones/:zone_id/sensitive_data/scan",
    id: "sensitive-data-scan",
    summary: "Look through a text as sensitive data detection would",
    scope: "zone",
    permissions: READ,
    body: SensitiveDataScan,
    result: SensitiveDataFindings,
    paging: "one",
    handler: ({ control, resolved, body }) => control.sensitiveData.scan(zoneOf(resolved).id, body),
  }),
  route({
    ...read,
    path: ALLOWED,
    id: "sensitive-data-allowed-list",
    summary: "List what sensitive data detection passes over",
    result: AllowedData,
    paging: "list",
    handler: ({ control, resolved }) => control.sensitiveData.allowed.list(zoneOf(resolved).id),
  }),
  route({
    ...write,
    method: "POST",
    path: ALLOWED,
    id: "sensitive-data-allowed-create",
    summary: "Let sensitive data detection pass over a value or a place",
    body: AllowedDataCreate,
    result: AllowedData,
    handler: ({ control, call, resolved, body }) => control.sensitiveData.allowed.create(call, zoneOf(resolved), body),
  }),
  route({
    ...read,
    path: `${ALLOWED}/:allowed_id`,
    id: "sensitive-data-allowed-get",
    summary: "Show what sensitive data detection passes over",
    result: AllowedData,
    paging: "one",
    handler: ({ control, resolved, params }) => control.sensitiveData.allowed.get(zoneOf(resolved).id, params.allowed_id),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${ALLOWED}/:allowed_id`,
    id: "sensitive-data-allowed-delete",
    summary: "Let sensitive data detection look at a value or a place again",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.sensitiveData.allowed.delete(call, zoneOf(resolved), params.allowed_id),
  }),
  route({
    ...read,
    path: PATTERNS,
    id: "sensitive-data-patterns-list",
    summary: "List the zone's own kinds of sensitive data",
    result: SensitiveDataPattern,
    paging: "list",
    handler: ({ control, resolved }) => control.sensitiveData.patterns.list(zoneOf(resolved).id),
  }),
  route({
    ...write,
    method: "POST",
    path: PATTERNS,
    id: "sensitive-data-patterns-create",
    summary: "Detect a kind of sensitive data of the zone's own",
    body: SensitiveDataPatternCreate,
    result: SensitiveDataPattern,
    handler: ({ control, call, resolved, body }) => control.sensitiveData.patterns.create(call, zoneOf(resolved), body),
  }),
  route({
    ...read,
    path: `${PATTERNS}/:pattern_id`,
    id: "sensitive-data-patterns-get",
    summary: "Show one of the zone's own kinds of sensitive data",
    result: SensitiveDataPattern,
    paging: "one",
    handler: ({ control, resolved, params }) => control.sensitiveData.patterns.get(zoneOf(resolved).id, params.pattern_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: `${PATTERNS}/:pattern_id`,
    id: "sensitive-data-patterns-edit",
    summary: "Change one of the zone's own kinds of sensitive data",
    body: SensitiveDataPatternChange,
    result: SensitiveDataPattern,
    handler: ({ control, call, resolved, params, body }) =>
      control.sensitiveData.patterns.update(call, zoneOf(resolved), params.pattern_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${PATTERNS}/:pattern_id`,
    id: "sensitive-data-patterns-delete",
    summary: "Detect one of the zone's own kinds of sensitive data no longer",
    result: Deleted,
    handler: ({ control, call, resolved, params }) => control.sensitiveData.patterns.delete(call, zoneOf(resolved), params.pattern_id),
  }),
];
