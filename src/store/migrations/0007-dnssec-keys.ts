import type { Dialect } from "#store/queries/session.ts";

/** Several keys per zone, the progress of rollovers, and the DS last seen at the parent. */
export function dnssecKeys({ text, integer, tableOptions }: Dialect): readonly string[] {
  return [
    `CREATE TABLE zone_dnssec_keys (
      id ${text} PRIMARY KEY,
      zone_id ${text} NOT NULL REFERENCES zones (id),
      public_key ${text} NOT NULL,
      private_key ${text} NOT NULL,
      created_on ${text} NOT NULL
    ) ${tableOptions}`,
    "CREATE INDEX zone_dnssec_keys_by_zone ON zone_dnssec_keys (zone_id, created_on, id)",
    `INSERT INTO zone_dnssec_keys (id, zone_id, public_key, private_key, created_on)
      SELECT key_id, zone_id, public_key, private_key, modified_on FROM zone_dnssec`,
    ...["key_id", "public_key", "private_key", "use_nsec3"].map((column) => `ALTER TABLE zone_dnssec DROP COLUMN ${column}`),
    ...["status_since", "rollover_since", "ds_since", "looked_on", "look_failure", "next_look_on", "refetch_on"].map(
      (column) => `ALTER TABLE zone_dnssec ADD COLUMN ${column} ${text} NOT NULL DEFAULT ''`,
    ),
    `ALTER TABLE zone_dnssec ADD COLUMN rollover ${text} NOT NULL DEFAULT 'none'`,
    ...["ds_named", "ds_others"].map((column) => `ALTER TABLE zone_dnssec ADD COLUMN ${column} ${text} NOT NULL DEFAULT '[]'`),
    `ALTER TABLE zone_dnssec ADD COLUMN ds_ttl ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE zone_dnssec ADD COLUMN look_failures ${integer} NOT NULL DEFAULT 0`,
    `UPDATE zone_dnssec SET status_since = modified_on, rollover_since = modified_on, ds_since = modified_on,
      next_look_on = modified_on, refetch_on = modified_on`,
    "CREATE INDEX zone_dnssec_by_next_look ON zone_dnssec (next_look_on)",
  ];
}
