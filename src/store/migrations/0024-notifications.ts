import type { Dialect } from "#store/queries/session.ts";

/** Notification policies, their receivers, and notifications that were sent or are pending. */
export function notifications({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  const owner = `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`;
  return [
    table("notification_webhooks", [
      `id ${text} PRIMARY KEY`,
      owner,
      `name ${text} NOT NULL`,
      `url ${text} NOT NULL`,
      `secret ${text} NOT NULL`,
      `kind ${text} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `last_success ${text}`,
      `last_failure ${text}`,
    ]),
    "CREATE INDEX notification_webhooks_by_account ON notification_webhooks (account_id)",
    table("notification_policies", [
      `id ${text} PRIMARY KEY`,
      owner,
      `alert_type ${text} NOT NULL`,
      `enabled ${integer} NOT NULL`,
      `value ${text} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `modified_on ${text} NOT NULL`,
    ]),
    "CREATE INDEX notification_policies_by_account ON notification_policies (account_id)",
    table("notification_silences", [
      `id ${text} PRIMARY KEY`,
      `policy_id ${text} NOT NULL REFERENCES notification_policies (id) ON DELETE CASCADE`,
      owner,
      `start_ms ${integer} NOT NULL`,
      `end_ms ${integer} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `modified_on ${text} NOT NULL`,
    ]),
    "CREATE INDEX notification_silences_by_policy ON notification_silences (policy_id, end_ms)",
    table("notification_spikes", [
      `policy_id ${text} NOT NULL REFERENCES notification_policies (id) ON DELETE CASCADE`,
      `subject ${text} NOT NULL`,
      `above ${integer} NOT NULL`,
      `told_ms ${integer} NOT NULL`,
      "PRIMARY KEY (policy_id, subject)",
    ]),
    table("notification_deliveries", [
      `id ${text} PRIMARY KEY`,
      owner,
      `policy_id ${text} NOT NULL`,
      `alert_type ${text} NOT NULL`,
      `name ${text} NOT NULL`,
      `description ${text} NOT NULL`,
      `body ${text} NOT NULL`,
      `mechanism_type ${text} NOT NULL`,
      `mechanism ${text} NOT NULL`,
      `status ${text} NOT NULL`,
      `attempts ${integer} NOT NULL`,
      `due_ms ${integer} NOT NULL`,
      `created_ms ${integer} NOT NULL`,
      `sent_on ${text}`,
      `error ${text}`,
    ]),
    "CREATE INDEX notification_deliveries_by_account ON notification_deliveries (account_id, created_ms)",
    "CREATE INDEX notification_deliveries_due ON notification_deliveries (status, due_ms)",
  ];
}
