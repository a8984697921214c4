import type { AuditEntry } from "#store/database/store.ts";

/** An audit entry for tests that care about something else. */
export const someAudit: AuditEntry = {
  action: "test.write",
  actor: { type: "system", id: "test", ip: "127.0.0.1" },
  account_id: null,
  zone_id: null,
  resource: { type: "test", id: "test" },
};
