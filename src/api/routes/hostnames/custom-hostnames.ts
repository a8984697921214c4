import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import {
  CERTIFICATE_AUTHORITIES,
  CustomHostname,
  CustomHostnameCertificate,
  CustomHostnameCreate,
  CustomHostnameEdit,
  CustomHostnameQuota,
  FallbackOrigin,
  FallbackOriginWrite,
  LISTED_STATUSES,
} from "#model/hostnames/custom-hostname.ts";
import { SSL_STATUSES } from "#model/hostnames/custom-hostname-states.ts";

const WRITE = ["SSL and Certificates Write"] as const;
const READ = ["SSL and Certificates Read", ...WRITE] as const;
const HOSTNAMES = "/zones/:zone_id/custom_hostnames";
const FALLBACK = `${HOSTNAMES}/fallback_origin` as const;
const CERTIFICATE = `${HOSTNAMES}/:custom_hostname_id/certificate_pack/:certificate_pack_id/certificates/:certificate_id` as const;

const Name = Type.Optional(Type.String({ maxLength: 255 }));
const HostnameQuery = Type.Object({
  hostname: Name,
  "hostname.exact": Name,
  "hostname.startsWith": Name,
  "hostname.contain": Name,
  id: Type.Optional(Type.String({ maxLength: 64 })),
  ssl: Type.Optional(Type.Enum(["0", "1"], { description: "1: only hostnames that have or will have a certificate." })),
  ssl_status: Type.Optional(Type.Enum([...SSL_STATUSES])),
  hostname_status: Type.Optional(Type.Enum([...LISTED_STATUSES])),
  certificate_authority: Type.Optional(Type.Enum(["", ...CERTIFICATE_AUTHORITIES])),
  wildcard: Type.Optional(Type.Enum(["true", "false"])),
  custom_origin_server: Name,
  order: Type.Optional(Type.Enum(["ssl", "ssl_status"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});

const read = { scope: "zone", method: "GET", permissions: READ, paging: "one" } as const;
const write = { scope: "zone", permissions: WRITE, paging: "one", invalid_body: "hostname_body_invalid" } as const;

/** Clients read the identifier beside the envelope's members (contract.md §5). */
const Deleted = Type.Object({ id: Type.String() });
const alsoId = ({ id }: { id: string }): { id: string } => ({ id });

const FALLBACK_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: FALLBACK,
    id: "fallback-origin-get",
    summary: "Show the fallback origin of custom hostnames",
    result: FallbackOrigin,
    handler: ({ control, resolved }) => control.fallbackOrigins.get(zoneOf(resolved)),
  }),
  route({
    ...write,
    method: "PUT",
    path: FALLBACK,
    id: "fallback-origin-update",
    summary: "Set the fallback origin of custom hostnames",
    body: FallbackOriginWrite,
    result: FallbackOrigin,
    handler: ({ control, call, resolved, body }) => control.fallbackOrigins.put(call, zoneOf(resolved), body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: FALLBACK,
    id: "fallback-origin-delete",
    summary: "Delete the fallback origin of custom hostnames",
    result: FallbackOrigin,
    handler: ({ control, call, resolved }) => control.fallbackOrigins.remove(call, zoneOf(resolved)),
  }),
];

export const CUSTOM_HOSTNAME_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: HOSTNAMES,
    id: "custom-hostnames-list",
    summary: "List custom hostnames",
    query: HostnameQuery,
    result: CustomHostname,
    paging: "page",
    per_page: { min: 5, default: 20, max: 1000 },
    handler: ({ control, resolved, query, page }) => control.customHostnames.list(zoneOf(resolved), query, page),
  }),
  route({
    ...write,
    method: "POST",
    path: HOSTNAMES,
    id: "custom-hostnames-create",
    summary: "Create a custom hostname",
    body: CustomHostnameCreate,
    result: CustomHostname,
    handler: ({ control, call, resolved, body }) => control.customHostnames.create(call, zoneOf(resolved), body),
  }),
  route({
    ...read,
    path: `${HOSTNAMES}/quota`,
    id: "custom-hostnames-quota",
    summary: "Show how many custom hostnames the zone can have and has",
    result: CustomHostnameQuota,
    handler: ({ control, resolved }) => control.customHostnames.quota(zoneOf(resolved)),
  }),
  ...FALLBACK_ROUTES,
  route({
    ...read,
    path: `${HOSTNAMES}/:custom_hostname_id`,
    id: "custom-hostnames-get",
    summary: "Show a custom hostname",
    result: CustomHostname,
    handler: ({ control, resolved, params }) => control.customHostnames.get(zoneOf(resolved), params.custom_hostname_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: `${HOSTNAMES}/:custom_hostname_id`,
    id: "custom-hostnames-edit",
    summary: "Change a custom hostname; if it is not active, restart its validation",
    body: CustomHostnameEdit,
    result: CustomHostname,
    handler: ({ control, call, resolved, params, body }) =>
      control.customHostnames.edit(call, zoneOf(resolved), params.custom_hostname_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: `${HOSTNAMES}/:custom_hostname_id`,
    id: "custom-hostnames-delete",
    summary: "Delete a custom hostname and its certificates",
    result: Deleted,
    also: alsoId,
    handler: ({ control, call, resolved, params }) => control.customHostnames.remove(call, zoneOf(resolved), params.custom_hostname_id),
  }),
  route({
    ...write,
    method: "PUT",
    path: CERTIFICATE,
    id: "custom-hostnames-certificate-update",
    summary: "Replace a custom certificate of a hostname",
    body: CustomHostnameCertificate,
    result: CustomHostname,
    status: 202,
    handler: ({ control, call, resolved, params, body }) =>
      control.customHostnames.replaceCertificate(call, zoneOf(resolved), params, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: CERTIFICATE,
    id: "custom-hostnames-certificate-delete",
    summary: "Delete a custom certificate of a hostname",
    result: Deleted,
    also: alsoId,
    status: 202,
    handler: ({ control, call, resolved, params }) => control.customHostnames.deleteCertificate(call, zoneOf(resolved), params),
  }),
];
