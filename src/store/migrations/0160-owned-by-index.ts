/** Indexes for rows that are deleted with their owner; without them, deleting an owner reads the whole table. */
export const ownedByIndex = (): readonly string[] => [
  "CREATE INDEX certificate_renewals_by_zone ON certificate_renewals (zone_id)",
  "CREATE INDEX gateway_objects_by_parent ON gateway_objects (parent_id)",
  "CREATE INDEX notification_silences_by_account ON notification_silences (account_id)",
];
