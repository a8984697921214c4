import type { Dialect } from "#store/queries/session.ts";

/** Custom hostnames, their certificates, their fallback origins, and zone holds. */
export function customHostnames({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  const zone = `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`;
  const zoneKey = `zone_id ${text} PRIMARY KEY REFERENCES zones (id) ON DELETE CASCADE`;
  return [
    table("custom_hostnames", [
      `id ${text} PRIMARY KEY`,
      zone,
      `hostname ${text} NOT NULL`,
      `wildcard ${integer} NOT NULL`,
      `status ${text} NOT NULL`,
      `status_since_ms ${integer} NOT NULL`,
      `checks ${integer} NOT NULL`,
      `next_check_ms ${integer}`,
      `home_zone_id ${text}`,
      `home_serial ${integer}`,
      `verification_errors ${text} NOT NULL`,
      `ownership_token ${text} NOT NULL`,
      `custom_metadata ${text}`,
      `custom_origin_server ${text}`,
      `custom_origin_sni ${text}`,
      `ssl_status ${text}`,
      `ssl_method ${text}`,
      `certificate_authority ${text} NOT NULL`,
      `branding ${integer} NOT NULL`,
      `caa_error ${integer} NOT NULL`,
      `ssl ${text}`,
      `ssl_due_ms ${integer}`,
      `ssl_tries ${integer} NOT NULL`,
      `created_at ${text} NOT NULL`,
      `modified_on ${text} NOT NULL`,
      "UNIQUE (zone_id, hostname)",
    ]),
    "CREATE INDEX custom_hostnames_by_name ON custom_hostnames (hostname, status)",
    "CREATE INDEX custom_hostnames_by_check ON custom_hostnames (next_check_ms)",
    "CREATE INDEX custom_hostnames_by_home ON custom_hostnames (home_zone_id, home_serial)",
    "CREATE INDEX custom_hostnames_by_ssl_due ON custom_hostnames (ssl_due_ms)",
    table("custom_hostname_certificates", [
      `id ${text} PRIMARY KEY`,
      `custom_hostname_id ${text} NOT NULL REFERENCES custom_hostnames (id) ON DELETE CASCADE`,
      zone,
      `hosts ${text} NOT NULL`,
      `chain ${text} NOT NULL`,
      `private_key ${text} NOT NULL`,
      `issuer ${text} NOT NULL`,
      `is_custom ${integer} NOT NULL`,
      `serial_number ${text} NOT NULL`,
      `signature ${text} NOT NULL`,
      `not_before ${text} NOT NULL`,
      `not_after ${text} NOT NULL`,
      `created_on ${text} NOT NULL`,
    ]),
    "CREATE INDEX custom_hostname_certificates_by_hostname ON custom_hostname_certificates (custom_hostname_id)",
    "CREATE INDEX custom_hostname_certificates_by_zone ON custom_hostname_certificates (zone_id)",
    table("fallback_origins", [zoneKey, `origin ${text} NOT NULL`, `created_at ${text} NOT NULL`, `updated_at ${text} NOT NULL`]),
    table("zone_holds", [
      zoneKey,
      `hold ${integer} NOT NULL`,
      `hold_after_ms ${integer}`,
      `include_subdomains ${integer} NOT NULL`,
      `modified_on ${text} NOT NULL`,
    ]),
    table("hostname_issuances", [
      `account_id ${text} PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE`,
      `recent ${text} NOT NULL`,
      `locked_until_ms ${integer} NOT NULL`,
    ]),
  ];
}
