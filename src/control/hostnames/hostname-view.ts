import type { CertificateAuthority, CustomHostname, HostnameSsl } from "#model/hostnames/custom-hostname.ts";
import type { HostnameStatus, SslStatus } from "#model/hostnames/custom-hostname-states.ts";
import type { CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import { VERIFICATION_ERRORS } from "./evaluate-hostname.ts";
import { ownershipView } from "./ownership.ts";

/**
 * A custom hostname's row as a response. `originError`: the fallback origin's current error, null for none; if absent,
 * that of the last check is shown.
 */
export function hostnameView(row: CustomHostnameRow, vendorPrefix: string, originError?: string | null): CustomHostname {
  const checked = JSON.parse(row.verification_errors) as string[];
  const errors = originError === undefined ? checked : withOriginError(row, checked, originError);
  return {
    id: row.id,
    hostname: row.hostname,
    ...(row.ssl === null ? {} : { ssl: sslView(row, JSON.parse(row.ssl) as HostnameSsl) }),
    // SPEC 3.2: `caa_error` replaces every other status.
    status: row.caa_error === 1 ? "caa_error" : (row.status as HostnameStatus),
    ...(errors.length === 0 ? {} : { verification_errors: [...errors] }),
    ...(row.status === "active" ? {} : ownershipView(vendorPrefix, row)),
    ...(row.custom_metadata === null ? {} : { custom_metadata: JSON.parse(row.custom_metadata) as Record<string, string> }),
    ...(row.custom_origin_server === null ? {} : { custom_origin_server: row.custom_origin_server }),
    ...(row.custom_origin_sni === null ? {} : { custom_origin_sni: row.custom_origin_sni }),
    created_at: row.created_at,
  };
}

/** Only hostnames without their own origin depend on the fallback origin. */
function withOriginError(row: CustomHostnameRow, checked: readonly string[], originError: string | null): readonly string[] {
  const others = checked.filter((error) => error !== VERIFICATION_ERRORS.origin);
  const isConcerned = row.custom_origin_server === null && (row.status === "pending" || row.status === "active");
  return isConcerned && originError !== null ? [originError, ...others] : others;
}

const sslView = (row: CustomHostnameRow, ssl: HostnameSsl): NonNullable<CustomHostname["ssl"]> => {
  const { id, type, ...rest } = ssl;
  return {
    id,
    type,
    ...(row.ssl_method === null ? {} : { method: row.ssl_method as "http" | "txt" | "email" }),
    status: (row.ssl_status ?? "initializing") as SslStatus,
    wildcard: row.wildcard === 1,
    certificate_authority: row.certificate_authority as CertificateAuthority,
    ...rest,
  };
};
