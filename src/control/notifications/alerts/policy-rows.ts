import type { NotificationPolicy, NotificationPolicyCreate } from "#model/events/notification.ts";
import type { PolicyRow } from "#store/events/notifications.ts";
import type { Destination } from "#store/events/notification-deliveries.ts";

/** The policy's fields that the row stores as JSON. */
export type PolicyValue = Pick<NotificationPolicyCreate, "name" | "description" | "alert_interval" | "filters" | "mechanisms">;

export const policyValue = (row: PolicyRow): PolicyValue => JSON.parse(row.value) as PolicyValue;
export const mechanismsOf = (row: PolicyRow): NotificationPolicy["mechanisms"] => policyValue(row).mechanisms;

/** Each destination gets its own delivery. */
export function destinationsOf(row: PolicyRow): readonly Destination[] {
  const { email = [], webhooks = [] } = mechanismsOf(row);
  return [
    ...email.map(({ id }) => ({ mechanism_type: "email", mechanism: id })),
    ...webhooks.map(({ id }) => ({ mechanism_type: "webhook", mechanism: id })),
  ];
}

export const policyView = (row: PolicyRow): NotificationPolicy => ({
  id: row.id,
  enabled: row.enabled === 1,
  alert_type: row.alert_type,
  ...policyValue(row),
  created: row.created_on,
  modified: row.modified_on,
});

/** The fields that decide which spikes a policy notifies about, as comparable text; the rest are its name and recipients. */
export function meaningOf(row: PolicyRow): string {
  const { filters = {}, alert_interval = "" } = policyValue(row);
  return JSON.stringify([row.alert_type, filters, alert_interval]);
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The duration in milliseconds, such as of `30m`, `4h` or `1d`; undefined if invalid. */
export function intervalMs(text: string): number | undefined {
  const [, count, unit = ""] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}
