import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  CertificatePack,
  CertificatePackEdit,
  CertificatePackOrder,
  CertificatePackQuota,
  CertificateVerification,
  UniversalSsl,
  UniversalSslEdit,
} from "#model/certificates/certificate-pack.ts";

const WRITE = ["SSL and Certificates Write"] as const;
const READ = ["SSL and Certificates Read", "SSL and Certificates Write"] as const;

export const CERTIFICATE_PACK_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/ssl/certificate_packs",
    id: "certificate-packs-list",
    summary: "List the zone's own certificates",
    scope: "zone",
    permissions: READ,
    query: Type.Object({
      status: Type.Optional(Type.Enum(["all"], { description: "all: include certificates that are still being issued." })),
      deploy: Type.Optional(Type.Enum(["staging", "production"])),
    }),
    result: CertificatePack,
    paging: "page",
    per_page: { default: 20, max: 50, min: 5 },
    handler: ({ control, resolved, query, page }) => control.certificatePacks.list(zoneOf(resolved).id, query.status === "all", page),
  }),
  route({
    method: "POST",
    path: "/zones/:zone_id/ssl/certificate_packs/order",
    id: "certificate-packs-order",
    summary: "Order a certificate for names of the zone",
    scope: "zone",
    permissions: WRITE,
    body: CertificatePackOrder,
    drops_unknown: ["_branding"],
    result: CertificatePack,
    paging: "one",
    handler: async ({ control, call, resolved, body }) =>
      control.certificatePacks.get(zoneOf(resolved).id, await control.orderedPacks.order(call, zoneOf(resolved), body)),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/ssl/certificate_packs/quota",
    id: "certificate-packs-quota",
    summary: "Show how many certificates can be ordered",
    scope: "zone",
    permissions: READ,
    result: CertificatePackQuota,
    paging: "one",
    handler: ({ control, resolved }) => control.certificatePacks.quota(zoneOf(resolved).id),
  }),
  route({
    method: "PATCH",
    path: "/zones/:zone_id/ssl/certificate_packs/:zone_pack_id",
    id: "certificate-packs-edit",
    summary: "Begin the validation of an ordered certificate again, or change its branding",
    scope: "zone",
    permissions: WRITE,
    body: CertificatePackEdit,
    drops_unknown: ["_branding"],
    result: CertificatePack,
    paging: "one",
    handler: async ({ control, call, resolved, params, body }) => {
      await control.orderedPacks.edit(call, zoneOf(resolved), params.zone_pack_id, body);
      return control.certificatePacks.get(zoneOf(resolved).id, params.zone_pack_id);
    },
  }),
  route({
    method: "DELETE",
    path: "/zones/:zone_id/ssl/certificate_packs/:zone_pack_id",
    id: "certificate-packs-delete",
    summary: "Delete an ordered certificate",
    scope: "zone",
    permissions: WRITE,
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: ({ control, call, resolved, params }) => control.orderedPacks.remove(call, zoneOf(resolved), params.zone_pack_id),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/ssl/certificate_packs/:zone_pack_id",
    id: "certificate-packs-get",
    summary: "Show one of the zone's own certificates",
    scope: "zone",
    permissions: READ,
    result: CertificatePack,
    paging: "one",
    handler: ({ control, resolved, params }) => control.certificatePacks.get(zoneOf(resolved).id, params.zone_pack_id),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/ssl/verification",
    id: "ssl-verification",
    summary: "Show the validation status of the zone's own certificates",
    scope: "zone",
    permissions: READ,
    query: Type.Object({ retry: Type.Optional(Type.Enum(["true"])) }),
    result: CertificateVerification,
    paging: "list",
    handler: ({ control, resolved }) => control.certificatePacks.verification(zoneOf(resolved).id),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/ssl/universal/settings",
    id: "ssl-universal-get",
    summary: "Show whether the zone has a certificate from the server, which is always so",
    scope: "zone",
    permissions: READ,
    result: UniversalSsl,
    paging: "one",
    handler: async () => ALWAYS,
  }),
  route({
    method: "PATCH",
    path: "/zones/:zone_id/ssl/universal/settings",
    id: "ssl-universal-edit",
    summary: "Keep the certificate from the server; it cannot be turned off",
    scope: "zone",
    permissions: WRITE,
    body: UniversalSslEdit,
    result: UniversalSsl,
    paging: "one",
    handler: async ({ body }) => {
      if (!body.enabled)
        throw new PlatformError("zone_setting_invalid", {
          message: "Universal SSL cannot be turned off: every zone has a certificate. Upload one, and the edge serves it instead.",
          source: "/enabled",
        });
      return ALWAYS;
    },
  }),
];

/** Terraform's zone settings read and write it with each run. */
const ALWAYS = { enabled: true } as const;
