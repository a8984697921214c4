import type { Dialect, DialectName } from "#store/queries/session.ts";

/** Columns and indexes that filter a zone's records without reading them all (store/dns/record-keys.ts). */
export function recordLists({ name, text, tableOptions }: Dialect): readonly string[] {
  return [
    `ALTER TABLE dns_records ADD COLUMN name_reversed ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE dns_records ADD COLUMN content_reversed ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE dns_records ADD COLUMN comment_key ${text}`,
    `ALTER TABLE dns_records ADD COLUMN comment_reversed ${text}`,
    `CREATE TABLE dns_record_tags (${[
      `record_id ${text} NOT NULL REFERENCES dns_records (id) ON DELETE CASCADE`,
      `zone_id ${text} NOT NULL`,
      `tag_key ${text} NOT NULL`,
      `tag_reversed ${text} NOT NULL`,
      "PRIMARY KEY (record_id, tag_key)",
    ].join(", ")}) ${tableOptions}`,
    // Candidates of a scan that have been neither accepted nor rejected.
    `CREATE TABLE dns_scan_candidates (${[
      `id ${text} PRIMARY KEY`,
      `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
      `record ${text} NOT NULL`,
    ].join(", ")}) ${tableOptions}`,
    "CREATE INDEX dns_scan_candidates_by_zone ON dns_scan_candidates (zone_id)",
    ...EXISTING[name],
    // For the filter and the order by type.
    "CREATE INDEX dns_records_by_type ON dns_records (zone_id, type, name, id)",
    "CREATE INDEX dns_records_proxied ON dns_records (zone_id, proxied, name, type, id) WHERE proxied = 1",
    // 64 characters of a text: KEY_LENGTH_MAX of store/dns/record-keys.ts.
    "CREATE INDEX dns_records_by_content ON dns_records (zone_id, substr(content_key, 1, 64))",
    "CREATE INDEX dns_records_by_name_end ON dns_records (zone_id, name_reversed)",
    "CREATE INDEX dns_records_by_content_end ON dns_records (zone_id, content_reversed)",
    "CREATE INDEX dns_records_by_comment ON dns_records (zone_id, substr(comment_key, 1, 64)) WHERE substr(comment_key, 1, 64) IS NOT NULL",
    "CREATE INDEX dns_records_by_comment_end ON dns_records (zone_id, comment_reversed) WHERE comment_reversed IS NOT NULL",
    "CREATE INDEX dns_record_tags_by_tag ON dns_record_tags (zone_id, tag_key, record_id)",
    "CREATE INDEX dns_record_tags_by_tag_end ON dns_record_tags (zone_id, tag_reversed, record_id)",
  ];
}

/** Reverses text in SQLite, which has no function for it. */
const backwards = (value: string): string =>
  `(WITH RECURSIVE turned (n, result) AS (SELECT 0, '' UNION ALL SELECT n + 1, substr(${value}, n + 1, 1) || result FROM turned WHERE n < length(${value})) SELECT result FROM turned ORDER BY n DESC LIMIT 1)`;

/** Keys of existing records. Letters beyond ASCII keep their case until the record is written again. */
const EXISTING: Readonly<Record<DialectName, readonly string[]>> = {
  sqlite: [
    `UPDATE dns_records SET comment_key = lower(comment), name_reversed = ${backwards("name")}, content_reversed = ${backwards("substr(content_key, -64)")}`,
    `UPDATE dns_records SET comment_reversed = ${backwards("substr(comment_key, -64)")} WHERE comment_key IS NOT NULL`,
    `INSERT OR IGNORE INTO dns_record_tags (record_id, zone_id, tag_key, tag_reversed)
       SELECT id, zone_id, name || ':' || value, name || ':' || ${backwards("value")} FROM (
         SELECT id, zone_id, substr(tag, 1, instr(tag, ':') - 1) AS name, substr(tag, instr(tag, ':') + 1) AS value FROM (
           SELECT dns_records.id, dns_records.zone_id, lower(each.value) || iif(instr(each.value, ':') = 0, ':', '') AS tag
             FROM dns_records, json_each(dns_records.tags) AS each))`,
  ],
  postgres: [
    `UPDATE dns_records SET comment_key = lower(comment), comment_reversed = reverse(right(lower(comment), 64)),
       name_reversed = reverse(name), content_reversed = reverse(right(content_key, 64))`,
    `INSERT INTO dns_record_tags (record_id, zone_id, tag_key, tag_reversed)
       SELECT id, zone_id, name || ':' || value, name || ':' || reverse(value) FROM (
         SELECT id, zone_id, substr(tag, 1, strpos(tag, ':') - 1) AS name, substr(tag, strpos(tag, ':') + 1) AS value FROM (
           SELECT id, zone_id, lower(each.value COLLATE "C") || CASE WHEN strpos(each.value, ':') = 0 THEN ':' ELSE '' END AS tag
             FROM dns_records, json_array_elements_text(tags::json) AS each (value)) AS folded) AS split
     ON CONFLICT DO NOTHING`,
  ],
};
