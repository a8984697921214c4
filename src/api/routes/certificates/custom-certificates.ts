import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import {
  CustomCertificate,
  CustomCertificateCreate,
  CustomCertificateEdit,
  CustomCertificatePriorities,
  CustomCertificateQuery,
} from "#model/certificates/custom-certificate.ts";

const WRITE = ["SSL and Certificates Write"] as const;
const READ = ["SSL and Certificates Read", ...WRITE] as const;
const CERTIFICATES = "/zones/:zone_id/custom_certificates";
const CERTIFICATE = `${CERTIFICATES}/:custom_certificate_id` as const;
const read = { scope: "zone", method: "GET", permissions: READ, result: CustomCertificate } as const;
const write = { scope: "zone", permissions: WRITE, result: CustomCertificate } as const;

export const CUSTOM_CERTIFICATE_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: CERTIFICATES,
    id: "custom-certificates-list",
    summary: "List the zone's custom certificates",
    query: CustomCertificateQuery,
    paging: "page",
    per_page: { default: 20, max: 50, min: 5 },
    handler: ({ control, resolved, query, page }) => control.customCertificates.list(zoneOf(resolved), query, page),
  }),
  route({
    ...write,
    method: "POST",
    path: CERTIFICATES,
    id: "custom-certificates-create",
    summary: "Upload a custom certificate for the zone",
    body: CustomCertificateCreate,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.customCertificates.create(call, zoneOf(resolved), body),
  }),
  route({
    ...write,
    method: "PUT",
    path: `${CERTIFICATES}/prioritize`,
    id: "custom-certificates-prioritize",
    summary: "Set the priorities of custom certificates",
    body: CustomCertificatePriorities,
    paging: "list",
    handler: ({ control, call, resolved, body }) => control.customCertificates.prioritize(call, zoneOf(resolved), body),
  }),
  route({
    ...read,
    path: CERTIFICATE,
    id: "custom-certificates-get",
    summary: "Show a custom certificate",
    paging: "one",
    handler: ({ control, resolved, params }) => control.customCertificates.get(zoneOf(resolved), params.custom_certificate_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: CERTIFICATE,
    id: "custom-certificates-edit",
    summary: "Replace a custom certificate or its key",
    body: CustomCertificateEdit,
    paging: "one",
    handler: ({ control, call, resolved, params, body }) =>
      control.customCertificates.edit(call, zoneOf(resolved), params.custom_certificate_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: CERTIFICATE,
    id: "custom-certificates-delete",
    summary: "Delete a custom certificate",
    result: Type.Object({ id: Type.String() }),
    paging: "one",
    handler: ({ control, call, resolved, params }) =>
      control.customCertificates.remove(call, zoneOf(resolved), params.custom_certificate_id),
  }),
];
