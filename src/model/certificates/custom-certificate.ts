import { type Static, Type } from "typebox";
import { BUNDLE_METHODS } from "#model/hostnames/custom-hostname.ts";

/** Maximum number of uploaded certificates per zone. */
export const CUSTOM_CERTIFICATES_MAX = 100;

export const CUSTOM_CERTIFICATE_TYPES = ["legacy_custom", "sni_custom"] as const;
export type CustomCertificateType = (typeof CUSTOM_CERTIFICATE_TYPES)[number];

export const CERTIFICATE_PRIORITY_MAX = 999_999;

const STATUSES = ["active", "expired", "deleted", "pending", "initializing"] as const;
const Text = Type.String({ maxLength: 4096 });
const Pem = Type.String({ maxLength: 65_536 });
const Id = Type.String({ maxLength: 32 });

/** A certificate that the zone's owner uploaded. Responses never contain its key. */
export const CustomCertificate = Type.Object({
  id: Id,
  zone_id: Id,
  hosts: Type.Array(Text),
  issuer: Text,
  signature: Text,
  status: Type.Enum([...STATUSES]),
  bundle_method: Type.Enum([...BUNDLE_METHODS]),
  priority: Type.Integer(),
  uploaded_on: Text,
  modified_on: Text,
  expires_on: Text,
});
export type CustomCertificate = Static<typeof CustomCertificate>;

/** Fields that select features without support here: key regions, staging deployment and signing requests. */
const Unavailable = {
  geo_restrictions: Type.Optional(Type.Object({ label: Type.Optional(Text) })),
  policy: Type.Optional(Text),
  policy_restrictions: Type.Optional(Text),
  deploy: Type.Optional(Type.Enum(["staging", "production"])),
  custom_csr_id: Type.Optional(Text),
};

export const CustomCertificateCreate = Type.Object({
  certificate: Pem,
  private_key: Type.Optional(Pem),
  bundle_method: Type.Optional(Type.Enum([...BUNDLE_METHODS], { description: "Stored; the edge serves the chain as uploaded." })),
  type: Type.Optional(
    Type.Enum([...CUSTOM_CERTIFICATE_TYPES], {
      description: "legacy_custom, the default, takes precedence over sni_custom for the same name.",
    }),
  ),
  ...Unavailable,
});
export type CustomCertificateCreate = Static<typeof CustomCertificateCreate>;

export const CustomCertificateEdit = Type.Object({
  certificate: Type.Optional(Pem),
  private_key: Type.Optional(Pem),
  bundle_method: Type.Optional(Type.Enum([...BUNDLE_METHODS])),
  ...Unavailable,
});
export type CustomCertificateEdit = Static<typeof CustomCertificateEdit>;

export const CustomCertificatePriorities = Type.Object({
  certificates: Type.Array(
    Type.Object({ id: Id, priority: Type.Optional(Type.Integer({ minimum: 0, maximum: CERTIFICATE_PRIORITY_MAX })) }),
    {
      maxItems: CUSTOM_CERTIFICATES_MAX,
    },
  ),
});
export type CustomCertificatePriorities = Static<typeof CustomCertificatePriorities>;

export const CustomCertificateQuery = Type.Object({
  status: Type.Optional(Type.Enum([...STATUSES])),
  match: Type.Optional(Type.Enum(["any", "all"])),
});
export type CustomCertificateQuery = Static<typeof CustomCertificateQuery>;
