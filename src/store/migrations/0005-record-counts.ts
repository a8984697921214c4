import type { Dialect, DialectName } from "#store/queries/session.ts";

/** Columns, counts and indexes that count and page a zone's records without reading rows (store/dns/record-sources.ts). */
export function recordCounts({ name, text, integer, clusteredTableOptions }: Dialect): readonly string[] {
  return [
    `ALTER TABLE dns_records ADD COLUMN commented ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE dns_records ADD COLUMN tagged ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE dns_records ADD COLUMN content_head ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE dns_records ADD COLUMN comment_head ${text}`,
    `UPDATE dns_records SET content_head = substr(content_key, 1, 64), comment_head = substr(comment_key, 1, 64),
       commented = CASE WHEN comment IS NULL THEN 0 ELSE 1 END, tagged = CASE WHEN tags = '[]' THEN 0 ELSE 1 END`,
    `ALTER TABLE dns_record_tags ADD COLUMN record_name ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE dns_record_tags ADD COLUMN repeated ${integer} NOT NULL DEFAULT 0`,
    "UPDATE dns_record_tags SET record_name = (SELECT name FROM dns_records WHERE id = record_id)",
    `UPDATE dns_record_tags SET repeated = 1 WHERE EXISTS (SELECT 1 FROM dns_record_tags AS other
       WHERE other.record_id = dns_record_tags.record_id AND other.tag_key <> dns_record_tags.tag_key
         AND ${TAG_NAME[name]("other.tag_key")} = ${TAG_NAME[name]("dns_record_tags.tag_key")})`,
    // Number of a zone's records per facet (store/dns/record-counts.ts).
    `CREATE TABLE dns_record_counts (${[
      `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
      `facet ${text} NOT NULL`,
      `count ${integer} NOT NULL`,
      "PRIMARY KEY (zone_id, facet)",
    ].join(", ")}) ${clusteredTableOptions}`,
    "INSERT INTO dns_record_counts SELECT zone_id, 'type:' || type, count(*) FROM dns_records GROUP BY zone_id, type",
    "INSERT INTO dns_record_counts SELECT zone_id, 'proxied', count(*) FROM dns_records WHERE proxied = 1 GROUP BY zone_id",
    "INSERT INTO dns_record_counts SELECT zone_id, 'commented', count(*) FROM dns_records WHERE commented = 1 GROUP BY zone_id",
    `INSERT INTO dns_record_counts SELECT zone_id, 'tag:' || tag_name, count(*) FROM (
       SELECT DISTINCT zone_id, record_id, ${TAG_NAME[name]("tag_key")} AS tag_name FROM dns_record_tags) AS tagged GROUP BY zone_id, tag_name`,
    // Each index contains the name, by which lists are sorted, so that a page's names are known before any row is read;
    // the index of names also contains all other short columns.
    ...INDEXES.flatMap(([index, definition]) => [`DROP INDEX ${index}`, `CREATE INDEX ${index} ON ${definition}`]),
  ];
}

const INDEXES = [
  ["dns_records_by_name", "dns_records (zone_id, name, type, id, proxied, commented, tagged, ttl)"],
  ["dns_records_by_name_end", "dns_records (zone_id, name_reversed, name)"],
  ["dns_records_by_content", "dns_records (zone_id, content_head, name)"],
  ["dns_records_by_content_end", "dns_records (zone_id, content_reversed, name)"],
  ["dns_records_by_comment", "dns_records (zone_id, comment_head, name) WHERE comment_head IS NOT NULL"],
  ["dns_records_by_comment_end", "dns_records (zone_id, comment_reversed, name) WHERE comment_reversed IS NOT NULL"],
  ["dns_record_tags_by_tag", "dns_record_tags (zone_id, repeated, tag_key, record_name, record_id)"],
  ["dns_record_tags_by_tag_end", "dns_record_tags (zone_id, repeated, tag_reversed, record_name, record_id)"],
] as const;

const TAG_NAME: Readonly<Record<DialectName, (key: string) => string>> = {
  sqlite: (key) => `substr(${key}, 1, instr(${key}, ':') - 1)`,
  postgres: (key) => `substr(${key}, 1, strpos(${key}, ':') - 1)`,
};
