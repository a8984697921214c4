import type { Dialect } from "#store/queries/session.ts";

/** The changes of each write of a zone's records, for history, comparison and undo. */
export function dnsVersions({ text, integer, clusteredTableOptions }: Dialect): readonly string[] {
  return [
    `ALTER TABLE zones ADD COLUMN dns_version_count ${integer} NOT NULL DEFAULT 0`,
    `CREATE TABLE dns_versions (${[
      `zone_id ${text} NOT NULL`,
      `version ${integer} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `actor ${text} NOT NULL`,
      `kind ${text} NOT NULL`,
      `refers_to ${integer}`,
      `reason ${text}`,
      `created ${integer} NOT NULL`,
      `updated ${integer} NOT NULL`,
      `deleted ${integer} NOT NULL`,
      `changes ${text} NOT NULL`,
      "PRIMARY KEY (zone_id, version)",
    ].join(", ")}) ${clusteredTableOptions}`,
    // Most versions have one change, which is in the version's own row; those of an import continue here.
    `CREATE TABLE dns_version_parts (${[
      `zone_id ${text} NOT NULL`,
      `version ${integer} NOT NULL`,
      `part ${integer} NOT NULL`,
      `changes ${text} NOT NULL`,
      "PRIMARY KEY (zone_id, version, part)",
    ].join(", ")}) ${clusteredTableOptions}`,
  ];
}
