import type { Dialect } from "#store/queries/session.ts";

/** Zones' settings of sensitive data detection: allowed values and custom patterns. */
export const sensitiveData = ({ text, tableOptions }: Dialect): readonly string[] => [
  `CREATE TABLE sensitive_data_objects (id ${text} PRIMARY KEY, zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE, kind ${text} NOT NULL, value ${text} NOT NULL, created_on ${text} NOT NULL, modified_on ${text} NOT NULL) ${tableOptions}`,
  "CREATE INDEX sensitive_data_objects_by_zone ON sensitive_data_objects (zone_id, created_on, id)",
];
