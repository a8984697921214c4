import type { Dialect } from "#store/queries/session.ts";

/**
 * When a former zone may be forgotten: its name is free and the clock, where a new zone's serial begins, has passed its serial. And an index of
 * the lists without rows, among them those of deleted owners.
 */
export const endsOfLeftovers = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE former_zones ADD COLUMN ends_ms ${integer} NOT NULL DEFAULT 0`,
  // Seven days; the serial counts seconds.
  "UPDATE former_zones SET ends_ms = CASE WHEN serial * 1000 > deleted_ms + 604800000 THEN serial * 1000 ELSE deleted_ms + 604800000 END",
  "CREATE INDEX former_zones_by_end ON former_zones (ends_ms)",
  "CREATE INDEX former_zones_by_account ON former_zones (account_id, deleted_ms)",
  "CREATE INDEX list_states_empty ON list_states (list, owner) WHERE row_count = 0",
];
