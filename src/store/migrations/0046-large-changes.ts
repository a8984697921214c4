import type { Dialect } from "#store/queries/session.ts";

/** Large changes of a zone in chunks; imports as jobs; and rows that are deleted over time, when they are no longer visible. */
export function largeChanges(dialect: Dialect): readonly string[] {
  const { text, integer, tableOptions } = dialect;
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  return [
    // Records of a deleted zone stay until they are removed over time.
    ...(dialect.name === "sqlite" ? WITHOUT_ZONE_REFERENCE : ["ALTER TABLE dns_records DROP CONSTRAINT dns_records_zone_id_fkey"]),
    `ALTER TABLE dns_imports ADD COLUMN kind ${text} NOT NULL DEFAULT 'import'`,
    // Parts of changes in progress, which are undone: they had no key.
    "DELETE FROM dns_version_parts WHERE version = 0",
    // Key of a version's parts that were written before it had a number; null: its number.
    `ALTER TABLE dns_versions ADD COLUMN parts_key ${integer}`,
    table("removals", [
      `id ${text} PRIMARY KEY`,
      `kind ${text} NOT NULL`,
      `zone_id ${text} NOT NULL`,
      `parts_key ${integer}`,
      `created_on ${text} NOT NULL`,
    ]),
    table("dns_import_jobs", [
      `id ${text} PRIMARY KEY`,
      `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
      `account_id ${text} NOT NULL`,
      `status ${text} NOT NULL`,
      `proxied ${integer} NOT NULL`,
      `total ${integer} NOT NULL`,
      `records ${integer} NOT NULL`,
      `actor ${text} NOT NULL`,
      `reason ${text}`,
      `error ${text}`,
      `created_on ${text} NOT NULL`,
      `touched_on ${text} NOT NULL`,
      `finished_on ${text}`,
    ]),
    "CREATE INDEX dns_import_jobs_by_zone ON dns_import_jobs (zone_id, created_on)",
    "CREATE INDEX dns_import_jobs_by_status ON dns_import_jobs (status, created_on)",
    // The file, which is read again after the process that imported it has ended.
    table("dns_import_files", [
      `job_id ${text} NOT NULL REFERENCES dns_import_jobs (id) ON DELETE CASCADE`,
      `part ${integer} NOT NULL`,
      `content ${text} NOT NULL`,
      "PRIMARY KEY (job_id, part)",
    ]),
  ];
}

/** Only the table's definition changes (https://www.sqlite.org/lang_altertable.html §7). */
const WITHOUT_ZONE_REFERENCE: readonly string[] = [
  "PRAGMA writable_schema = ON",
  `UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL REFERENCES zones (id)', 'NOT NULL'), 'NOT NULL REFERENCES "zones" (id)', 'NOT NULL')
     WHERE type = 'table' AND name = 'dns_records'`,
  "PRAGMA writable_schema = RESET",
];
