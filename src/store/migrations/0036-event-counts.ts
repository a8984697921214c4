import type { Dialect } from "#store/queries/session.ts";

/** Counts of each node's events database, for alerts across all nodes (ADR 0054). */
export function eventCounts({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  return [
    table("event_counts", [
      `kind ${text} NOT NULL`,
      `zone_id ${text} NOT NULL`,
      `service ${text} NOT NULL`,
      `hour_ms ${integer} NOT NULL`,
      `node ${text} NOT NULL`,
      `minutes ${text} NOT NULL`,
      "PRIMARY KEY (kind, zone_id, service, hour_ms, node)",
    ]),
    "CREATE INDEX event_counts_by_hour ON event_counts (hour_ms, kind)",
    table("event_count_nodes", [`node ${text} PRIMARY KEY`, `run ${text} NOT NULL`, `counted_ms ${integer} NOT NULL`]),
  ];
}
