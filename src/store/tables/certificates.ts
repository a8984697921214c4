export interface CertificatesTable {
  id: string;
  zone_id: string;
  hosts: string;
  chain: string;
  /** Sealed, context `certificate:{id}`. */
  private_key: string;
  issuer: string;
  not_before: string;
  not_after: string;
  created_on: string;
}

/** Certificates that a zone's owner uploaded. */
export interface CustomCertificatesTable {
  id: string;
  zone_id: string;
  type: string;
  bundle_method: string;
  priority: number;
  /** All names of the certificate, JSON. */
  hosts: string;
  /** The names that belong to the zone, JSON. */
  served_hosts: string;
  chain: string;
  /** Sealed, context `certificate:{id}`. */
  private_key: string;
  /** SHA-256 of the leaf, hexadecimal. */
  fingerprint: string;
  issuer: string;
  signature: string;
  not_before: string;
  not_after: string;
  uploaded_on: string;
  modified_on: string;
}

/** A certificate that a zone's owner ordered; the columns of the certificate are null until the first is issued. */
export interface CertificatePacksTable {
  id: string;
  zone_id: string;
  /** JSON array. */
  hosts: string;
  method: "http" | "txt";
  /** The requested authority; empty: any. */
  requested: string;
  validity_days: number;
  branding: number;
  status: string;
  /** Why the last attempt failed; empty if none did. */
  error: string;
  chain: string | null;
  /** Sealed, context `certificate:{id}`. */
  private_key: string | null;
  issuer: string;
  not_before: string | null;
  not_after: string | null;
  created_on: string;
  modified_on: string;
}

/** A certificate order; control/certificates/ describes its columns. */
export interface CertificateOrdersTable {
  id: string;
  owner_kind: "zone" | "custom_hostname" | "certificate_pack";
  owner_id: string;
  zone_id: string;
  /** JSON array. */
  hosts: string;
  method: "http" | "txt";
  /** The requested authority; empty: any. */
  requested: string;
  /** The chosen authority; empty until then. */
  authority: string;
  status: string;
  /** Why the last attempt failed, for the owner; empty if none did. */
  error: string;
  /** `PlacedOrder` of acme/issuance.ts, as JSON. */
  placed: string | null;
  /** PKCS #8 PEM, sealed with the context `certificate-order:{id}`. */
  private_key: string | null;
  /** The certificate that it renews, as identified to its authority (RFC 9773 §4.1). */
  replaces: string | null;
  tries: number;
  due_ms: number;
  /** The order is claimed until then. */
  lease_ms: number;
  created_ms: number;
}

/** Renewal times of the current certificate, if it came from an order. */
export interface CertificateRenewalsTable {
  owner_kind: "zone" | "custom_hostname" | "certificate_pack";
  owner_id: string;
  zone_id: string;
  hosts: string;
  method: "http" | "txt";
  requested: string;
  authority: string;
  /** Identifier for asking the authority for a renewal time; null if it offers none. */
  renewal_id: string | null;
  renew_ms: number;
  /** When the authority is asked again. */
  advice_ms: number;
  /** The authority's advice moves the renewal no later than this; null: no later at all. */
  latest_ms: number | null;
}
