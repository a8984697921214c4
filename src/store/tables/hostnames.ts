/** A custom hostname that a zone serves. */
export interface CustomHostnamesTable {
  id: string;
  zone_id: string;
  hostname: string;
  wildcard: number;
  /** Number of checks of a pending hostname; of an active one, consecutive checks that found it pointing elsewhere. */
  status: string;
  status_since_ms: number;
  /** Checks of a pending hostname since the first; of an active one, those in a row that found it pointing elsewhere. */
  checks: number;
  /** Null if no check is scheduled. */
  next_check_ms: number | null;
  /** The hosted zone that contains the name, and its serial at the last check; null if the name is hosted elsewhere. */
  home_zone_id: string | null;
  home_serial: number | null;
  verification_errors: string;
  ownership_token: string;
  custom_metadata: string | null;
  custom_origin_server: string | null;
  custom_origin_sni: string | null;
  /** Null if it has no certificate. */
  ssl_status: string | null;
  ssl_method: string | null;
  certificate_authority: string;
  branding: number;
  caa_error: number;
  /** `HostnameSsl` of model/hostnames/custom-hostname.ts. */
  ssl: string | null;
  /** When the issuer should next process it. */
  ssl_due_ms: number | null;
  ssl_tries: number;
  created_at: string;
  modified_on: string;
}

export interface CustomHostnameCertificatesTable {
  id: string;
  custom_hostname_id: string;
  zone_id: string;
  hosts: string;
  chain: string;
  /** Sealed, context `certificate:{id}`. */
  private_key: string;
  issuer: string;
  /** 1 if its owner uploaded it. */
  is_custom: number;
  serial_number: string;
  signature: string;
  not_before: string;
  not_after: string;
  created_on: string;
}

export interface FallbackOriginsTable {
  zone_id: string;
  origin: string;
  created_at: string;
  updated_at: string;
}

/** Certificates requested in about the last minute (SPEC 8): the sum of `hostname_issuance_times`. */
export interface HostnameIssuancesTable {
  account_id: string;
  taken: number;
  locked_until_ms: number;
}

export interface HostnameIssuanceTimesTable {
  account_id: string;
  at_ms: number;
  taken: number;
}
