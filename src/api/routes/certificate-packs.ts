import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { CertificatePack, CertificateVerification } from "#model/certificate-pack.ts";

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
      status: Type.Optional(Type.Enum(["all"], { description: "all: also the one that is on order." })),
      deploy: Type.Optional(Type.Enum(["staging", "production"])),
    }),
    result: CertificatePack,
    paging: "list",
    handler: ({ control, resolved, query }) => control.certificatePacks.list(zoneOf(resolved).id, query.status === "all"),
  }),
  route({
    method: "GET",
    path: "/zones/:zone_id/ssl/verification",
    id: "ssl-verification",
    summary: "Show how the validation of the zone's own certificates stands",
    scope: "zone",
    permissions: READ,
    query: Type.Object({ retry: Type.Optional(Type.Enum(["true"])) }),
    result: CertificateVerification,
    paging: "list",
    handler: ({ control, resolved }) => control.certificatePacks.verification(zoneOf(resolved).id),
  }),
];
