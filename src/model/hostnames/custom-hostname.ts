import { documented } from "#model/documented.ts";
import { type Static, type TSchema, Type } from "typebox";
import { HOSTNAME_STATUSES, SSL_STATUSES } from "./custom-hostname-states.ts";

export const VALIDATION_METHODS = ["http", "txt", "email"] as const;
export const BUNDLE_METHODS = ["ubiquitous", "optimal", "force"] as const;
export const TLS_VERSIONS = ["1.0", "1.1", "1.2", "1.3"] as const;
const SWITCH = ["on", "off"] as const;

/** Values of `certificate_authority` besides the empty text, which means the default authority (SPEC 2.7). */
export const CERTIFICATE_AUTHORITIES = ["digicert", "google", "lets_encrypt", "ssl_com"] as const;
export type CertificateAuthority = "" | (typeof CERTIFICATE_AUTHORITIES)[number];

/** Displayed statuses: `caa_error` replaces the status while CAA records prevent the certificate (SPEC 3.2, SPEC 7). */
export const SHOWN_STATUSES = [...HOSTNAME_STATUSES, "caa_error"] as const;

/** Statuses that published clients filter by; most never occur here. */
export const LISTED_STATUSES = [
  ...SHOWN_STATUSES,
  ...["active_redeploying", "pending_deletion", "deleted", "pending_blocked", "pending_migration", "pending_provisioned"],
  ...["test_pending", "test_active", "test_active_apex", "test_blocked", "test_failed", "provisioned"],
] as const;

/** RFC 5280 appendix A.1, ub-common-name (SPEC 7, SPEC 8). */
export const COMMON_NAME_LENGTH_MAX = 64;

/** The Common Name of branded certificates, which clients never connect to (SPEC 2.7). */
export const BRANDED_COMMON_NAME = "sni.selvedge.internal";

const Text = Type.String({ maxLength: 4096 });

export const ValidationRecord = Type.Object({
  status: Type.Optional(Text),
  txt_name: Type.Optional(Text),
  txt_value: Type.Optional(Text),
  http_url: Type.Optional(Text),
  http_body: Type.Optional(Text),
  cname: Type.Optional(Text),
  cname_target: Type.Optional(Text),
  emails: Type.Optional(Type.Array(Text)),
});
export type ValidationRecord = Static<typeof ValidationRecord>;

export const SslSettings = Type.Object({
  http2: Type.Optional(Type.Enum([...SWITCH])),
  tls_1_3: Type.Optional(Type.Enum([...SWITCH])),
  early_hints: Type.Optional(Type.Enum([...SWITCH])),
  min_tls_version: Type.Optional(Type.Enum([...TLS_VERSIONS])),
  ciphers: Type.Optional(Type.Array(Text)),
});
export type SslSettings = Static<typeof SslSettings>;

/** The stored part of the certificate object; status, method, authority and wildcard have columns. */
export const HostnameSsl = Type.Object({
  id: Type.String({ maxLength: 36 }),
  type: Type.Literal("dv"),
  bundle_method: Type.Enum([...BUNDLE_METHODS]),
  settings: SslSettings,
  hosts: Type.Optional(Type.Array(Text)),
  validation_records: Type.Optional(Type.Array(ValidationRecord)),
  validation_errors: Type.Optional(Type.Array(Type.Object({ message: Text }))),
  dcv_delegation_records: Type.Optional(Type.Array(ValidationRecord)),
  issuer: Type.Optional(Text),
  serial_number: Type.Optional(Text),
  signature: Type.Optional(Text),
  uploaded_on: Type.Optional(Text),
  expires_on: Type.Optional(Text),
  /** Certificates in use; their ids are part of the certificate's path. */
  certificates: Type.Optional(
    Type.Array(Type.Object({ id: Text, issuer: Text, serial_number: Text, signature: Text, issued_on: Text, expires_on: Text })),
  ),
  custom_certificate: Type.Optional(Type.String()),
  custom_csr_id: Type.Optional(Text),
});
export type HostnameSsl = Static<typeof HostnameSsl>;

/** A custom hostname as responses show it (SPEC 2.7; contract.md §5). */
export const CustomHostname = Type.Object({
  id: Type.String({ maxLength: 36 }),
  hostname: Type.String({ maxLength: 255 }),
  ssl: Type.Optional(
    Type.Object({
      ...HostnameSsl.properties,
      method: Type.Optional(Type.Enum([...VALIDATION_METHODS])),
      status: Type.Enum([...SSL_STATUSES]),
      wildcard: Type.Boolean(),
      certificate_authority: Type.Enum(["", ...CERTIFICATE_AUTHORITIES]),
    }),
  ),
  status: Type.Enum([...SHOWN_STATUSES]),
  verification_errors: Type.Optional(Type.Array(Type.String())),
  ownership_verification: Type.Optional(Type.Object({ type: Type.Literal("txt"), name: Type.String(), value: Type.String() })),
  ownership_verification_http: Type.Optional(Type.Object({ http_url: Type.String(), http_body: Type.String() })),
  custom_metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  custom_origin_server: Type.Optional(Type.String()),
  custom_origin_sni: Type.Optional(Type.String()),
  created_at: Type.String({ format: "date-time" }),
});
export type CustomHostname = Static<typeof CustomHostname>;

const Loose = (schema: TSchema, description: string) => Type.Optional(documented(schema, description));
const Needed = (schema: TSchema, description: string) => Type.Optional(documented(schema, description, true));
const Plain = Type.String();
const Removable = Type.Union([Type.String(), Type.Null()]);
const Metadata = Type.Record(Type.String(), Type.String());
const OnOff = Type.Enum([...SWITCH]);

/** Certificate fields of a write. Each has its own error code, so the schema checks none. */
const SslWrite = Type.Object({
  method: Loose(Type.Enum([...VALIDATION_METHODS]), "How control of the name is proved."),
  type: Loose(Type.Enum(["dv"]), "`dv`."),
  certificate_authority: Loose(Type.Enum(["", ...CERTIFICATE_AUTHORITIES]), "Empty for the default."),
  bundle_method: Loose(Type.Enum([...BUNDLE_METHODS]), "How the chain of an uploaded certificate is chosen."),
  wildcard: Loose(Type.Boolean(), "Whether the certificate and the routing also cover every name below the hostname."),
  settings: Loose(
    Type.Partial(
      Type.Object({
        ...{ http2: OnOff, tls_1_3: OnOff, early_hints: OnOff, tls_1_2_only: OnOff },
        min_tls_version: Type.Enum([...TLS_VERSIONS]),
        ciphers: Type.Array(Type.String()),
      }),
    ),
    "Of connections to the hostname.",
  ),
  custom_certificate: Loose(Plain, "A custom certificate with its chain, in PEM."),
  custom_key: Loose(Plain, "The private key of the certificate, in PEM."),
  custom_csr_id: Loose(Plain, "Not available."),
});

/** `<vendor>_branding` may be beside `hostname` or inside `ssl`, in any of its spellings (SPEC 2.7). */
export const CustomHostnameCreate = Type.Object({
  hostname: Needed(Plain, "A fully qualified name in ASCII; U-labels are not accepted."),
  ssl: Type.Optional(Type.Union([SslWrite, Type.Null()])),
  custom_metadata: Loose(Metadata, "An object with string values, which rules read as `cf.hostname.metadata`."),
  custom_origin_server: Loose(Plain, "A proxied name of the zone, used instead of the fallback origin."),
  custom_origin_sni: Loose(Plain, "`:request_host_header:` or a name."),
});
export type CustomHostnameCreate = Static<typeof CustomHostnameCreate>;

export const CustomHostnameEdit = Type.Object({
  ssl: Type.Optional(Type.Union([SslWrite, Type.Null()])),
  custom_metadata: Loose(Type.Union([Metadata, Type.Null()]), "As for a new hostname; null removes it."),
  custom_origin_server: Loose(Removable, "As for a new hostname; null or an empty value removes it."),
  custom_origin_sni: Loose(Removable, "As for a new hostname; null or an empty value removes it."),
});
export type CustomHostnameEdit = Static<typeof CustomHostnameEdit>;

/** A certificate that replaces another one. */
export const CustomHostnameCertificate = Type.Object({
  custom_certificate: Needed(Plain, "In PEM, with the chain."),
  custom_key: Needed(Plain, "PEM."),
});
export type CustomHostnameCertificate = Static<typeof CustomHostnameCertificate>;

/** The limit and the number of a zone's custom hostnames. */
export const CustomHostnameQuota = Type.Object({
  allocated: Type.Integer(),
  used: Type.Integer(),
  exceeded: Type.Boolean(),
  hard_cap: Type.Integer(),
});
export type CustomHostnameQuota = Static<typeof CustomHostnameQuota>;

export const FallbackOrigin = Type.Object({
  origin: Type.String({ maxLength: 255 }),
  status: Type.Enum(["initializing", "pending_deployment", "pending_deletion", "active", "deployment_timed_out", "deletion_timed_out"]),
  errors: Type.Array(Type.String()),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});
export type FallbackOrigin = Static<typeof FallbackOrigin>;

export const FallbackOriginWrite = Type.Object({ origin: Needed(Plain, "A proxied name of the zone.") });
export type FallbackOriginWrite = Static<typeof FallbackOriginWrite>;
