import type { Dialect } from "#store/queries/session.ts";

/** Times of the last and next check of secondary zones at their primaries. */
export function incomingTransfers({ text, integer, tableOptions }: Dialect): readonly string[] {
  return [
    `CREATE TABLE incoming_transfer_states (${[
      `zone_id ${text} PRIMARY KEY REFERENCES zones (id) ON DELETE CASCADE`,
      `next_check_ms ${integer} NOT NULL`,
      `forced ${integer} NOT NULL`,
      `failures ${integer} NOT NULL`,
      `checked_ms ${integer}`,
      `confirmed_ms ${integer}`,
      `transferred_ms ${integer}`,
      `method ${text}`,
      `peer_id ${text}`,
      `last_error ${text}`,
    ].join(", ")}) ${tableOptions}`,
    "CREATE INDEX incoming_transfer_states_due ON incoming_transfer_states (next_check_ms)",
    // Existing configurations begin with a check.
    `INSERT INTO incoming_transfer_states (zone_id, next_check_ms, forced, failures)
      SELECT zone_id, 0, 0, 0 FROM zone_transfers WHERE direction = 'incoming'`,
  ];
}
