import { type Static, Type } from "typebox";
import { CUSTOM_CERTIFICATE_TYPES } from "./custom-certificate.ts";
import { BUNDLE_METHODS, CERTIFICATE_AUTHORITIES, ValidationRecord } from "#model/hostnames/custom-hostname.ts";
import { SSL_STATUSES } from "#model/hostnames/custom-hostname-states.ts";

const Text = Type.String({ maxLength: 4096 });

const PackCertificate = Type.Object({
  id: Text,
  hosts: Type.Array(Text),
  issuer: Text,
  signature: Text,
  status: Text,
  bundle_method: Type.Enum([...BUNDLE_METHODS]),
  zone_id: Text,
  priority: Type.Optional(Type.Integer()),
  uploaded_on: Text,
  modified_on: Text,
  expires_on: Text,
});

/** A certificate of a zone, active or on order. */
export const CertificatePack = Type.Object({
  id: Type.String({ maxLength: 32 }),
  /** `universal`: of every zone; `advanced`: ordered by the zone's owner; other types are uploaded. */
  type: Type.Enum(["universal", "advanced", ...CUSTOM_CERTIFICATE_TYPES]),
  hosts: Type.Array(Text),
  status: Type.Enum([...SSL_STATUSES]),
  /** `local`: the installation's own authority. Empty until one is chosen. */
  certificate_authority: Type.Optional(Text),
  validation_method: Type.Optional(Type.Enum(["txt", "http"])),
  validity_days: Type.Integer(),
  primary_certificate: Type.Optional(Text),
  certificates: Type.Array(PackCertificate),
  validation_records: Type.Optional(Type.Array(ValidationRecord)),
  validation_errors: Type.Optional(Type.Array(Type.Object({ message: Text }))),
});
export type CertificatePack = Static<typeof CertificatePack>;

export const CERTIFICATE_PACKS_MAX = 100;
/** `<vendor>_branding` may be beside these fields (SPEC 2.7). */
export const CertificatePackOrder = Type.Object({
  type: Type.Literal("advanced"),
  hosts: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: 50 }),
  validation_method: Type.Optional(Type.Enum(["txt", "http", "email"])),
  validity_days: Type.Optional(
    Type.Union(
      [14, 30, 90, 365].map((days) => Type.Literal(days)),
      { description: "A wish: authorities decide how long they sign." },
    ),
  ),
  certificate_authority: Type.Optional(Type.Enum(["", ...CERTIFICATE_AUTHORITIES])),
});
export type CertificatePackOrder = Static<typeof CertificatePackOrder>;
/** Members of an order may be sent back, and must be the same. */
export const CertificatePackEdit = Type.Partial(Type.Pick(CertificatePackOrder, ["hosts", "validation_method", "certificate_authority"]));
export type CertificatePackEdit = Static<typeof CertificatePackEdit>;

export const CertificatePackQuota = Type.Object({
  advanced: Type.Object({ allocated: Type.Integer(), used: Type.Integer() }),
});
export type CertificatePackQuota = Static<typeof CertificatePackQuota>;

/** State of a pack's validation. */
export const CertificateVerification = Type.Object({
  cert_pack_uuid: Text,
  certificate_status: Type.Enum(["initializing", "authorizing", "active", "expired", "issuing", "timing_out", "pending_deployment"]),
  signature: Type.Optional(Text),
  validation_method: Type.Enum(["txt", "http"]),
  verification_status: Type.Boolean(),
  verification_info: Type.Optional(Type.Object({ record_name: Text, record_target: Text })),
});
export type CertificateVerification = Static<typeof CertificateVerification>;

/** Every zone has a certificate from this server, which is the vendor's Universal SSL. */
export const UniversalSsl = Type.Object({ enabled: Type.Literal(true) });
export const UniversalSslEdit = Type.Object({ enabled: Type.Boolean() });
