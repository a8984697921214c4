import type { Dialect } from "#store/queries/session.ts";

/** Scripts, connections and cookies that pages of a zone had (Page Shield). */
export const pageResources = ({ text, integer, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE page_resources (${[
    `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
    `id ${text} NOT NULL`,
    `kind ${text} NOT NULL`,
    `name ${text} NOT NULL`,
    `host ${text} NOT NULL`,
    `first_page_url ${text} NOT NULL`,
    `page_urls ${text} NOT NULL`,
    `attributes ${text} NOT NULL`,
    `versions ${text} NOT NULL`,
    `first_seen_at ${text} NOT NULL`,
    `last_seen_at ${text} NOT NULL`,
    `fetch_due_ms ${integer}`,
    `untold ${text}`,
    "PRIMARY KEY (zone_id, id)",
  ].join(", ")}) ${tableOptions}`,
  "CREATE INDEX page_resources_by_time ON page_resources (zone_id, kind, last_seen_at)",
  "CREATE INDEX page_resources_by_fetch ON page_resources (fetch_due_ms)",
  "CREATE INDEX page_resources_by_news ON page_resources (untold)",
];
