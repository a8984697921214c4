import type { Page, PageRequest } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { NotificationHistoryEntry, NotificationHistoryQuery } from "#model/events/notification.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import { countDeliveries, deliveriesOf, type DeliveryRow } from "#store/events/notification-deliveries.ts";
import type { Store } from "#store/database/store.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";

export interface NotificationHistory {
  /** Sent and pending notifications, newest first. Throws `invalid_input` for invalid times. */
  list(accountId: string, query: NotificationHistoryQuery, page: PageRequest): Promise<Page<NotificationHistoryEntry>>;
}

export const createNotificationHistory = ({ store }: { readonly store: Store }): NotificationHistory => ({
  list: async (accountId, { since, before }, { page, per_page }) => {
    const filter = {
      ...(since === undefined ? {} : { fromMs: timeOf("since", since) }),
      ...(before === undefined ? {} : { toMs: timeOf("before", before) }),
    };
    const rows = await deliveriesOf(store.read, accountId, filter, { limit: per_page, offset: (page - 1) * per_page });
    return { items: rows.map(view), page, per_page, total_count: await countDeliveries(store.read, accountId, filter) };
  },
});

const view = (row: DeliveryRow): NotificationHistoryEntry => {
  const { subject, text } = JSON.parse(row.body) as Alert;
  return {
    id: row.id,
    policy_id: row.policy_id,
    name: row.name,
    description: row.description,
    alert_type: row.alert_type,
    alert_body: `${subject}\n${text}`,
    mechanism: row.mechanism,
    mechanism_type: row.mechanism_type as NotificationHistoryEntry["mechanism_type"],
    sent: row.sent_on,
    status: row.status as NotificationHistoryEntry["status"],
    ...(row.error === null ? {} : { error: row.error }),
  };
};

function timeOf(name: string, text: string): number {
  const ms = parseTimestamp(text);
  if (ms === undefined) throw new PlatformError("invalid_input", { message: `${name} must be a time like 2030-01-31T08:00:00Z` });
  return ms;
}
