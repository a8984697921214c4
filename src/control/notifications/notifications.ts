import type { Static } from "typebox";
import type { OutboundAddressAllowed } from "#control/outbound.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { ALERT_TYPES, type AvailableAlerts, type EligibleMechanisms } from "#model/events/notification.ts";
import type { Store } from "#store/database/store.ts";
import { createDeliveries, type Deliveries } from "#control/notifications/delivery/deliveries.ts";
import { createEventCounts } from "#control/notifications/spikes/event-counts.ts";
import { createNotificationHistory, type NotificationHistory } from "#control/notifications/delivery/history.ts";
import { createNotificationPolicies, type NotificationPolicies } from "#control/notifications/policies/policies.ts";
import { commonEvents, createCountPublisher } from "#control/notifications/spikes/publish-counts.ts";
import { createWindowClaims } from "#control/notifications/spikes/window-claims.ts";
import { createSharedCounts } from "#control/notifications/spikes/shared-counts.ts";
import { createSharedRounds } from "#control/notifications/spikes/shared-rounds.ts";
import { createEmailSender, type MailServer } from "#control/notifications/delivery/send-email.ts";
import { createWebhookSender } from "#control/notifications/delivery/send-webhook.ts";
import { createSilences, type Silences } from "#control/notifications/policies/silences.ts";
import { createNotificationWatch, type NotificationWatch, type NotificationWatchDeps } from "#control/notifications/spikes/watch.ts";
import { createWebhooks, type Webhooks } from "#control/notifications/delivery/webhooks.ts";

/** Notifications of accounts: policies, receivers and history. */
export interface Notifications {
  readonly policies: NotificationPolicies;
  readonly webhooks: Webhooks;
  readonly silences: Silences;
  readonly history: NotificationHistory;
  readonly watch: NotificationWatch;
  readonly deliveries: Deliveries;
  /** Alert types by product. */
  available(): Static<typeof AvailableAlerts>;
  /** Whether each mechanism is available and configured. */
  eligible(): Static<typeof EligibleMechanisms>;
}

export interface NotificationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly events: EventReads;
  /** Kept as long as the events database. */
  readonly nodeId: string;
  /** Whether all servers of the installation read the same events. */
  readonly areEventsShared: boolean;
  readonly vendorPrefix: string;
  /** Undefined if the installation sends no e-mail. */
  readonly mailServer?: MailServer | undefined;
  /** Whether webhooks may have this address. */
  readonly webhookAllowed: OutboundAddressAllowed;
}

/** Several nodes may share PostgreSQL, each with its own events or all with the same; SQLite has a single node. */
function countsOf({ store, events, nodeId, areEventsShared }: NotificationsDeps): Pick<NotificationWatchDeps, "counts" | "rounds"> {
  const counts = createEventCounts(events);
  if (store.dialect === "sqlite") return { counts, rounds: createWindowClaims() };
  if (areEventsShared) return { counts, rounds: createSharedRounds({ store, publisher: commonEvents(events) }) };
  const publisher = createCountPublisher({ store, counts, node: nodeId });
  return { counts: createSharedCounts({ store }), rounds: createSharedRounds({ store, publisher }) };
}

export function createNotifications(deps: NotificationsDeps): Notifications {
  const { store, clock, sealer, mailServer, webhookAllowed: allowed, vendorPrefix } = deps;
  const deliveries = createDeliveries({
    store,
    clock,
    sealer,
    sendWebhook: createWebhookSender({ allowed, vendorPrefix }),
    sendEmail: mailServer === undefined ? null : createEmailSender(mailServer),
  });
  const hasEmail = mailServer !== undefined;
  return {
    policies: createNotificationPolicies({ store, clock, deliveries, ready: { email: hasEmail } }),
    webhooks: createWebhooks({ store, clock, sealer, allowed }),
    silences: createSilences({ store, clock }),
    history: createNotificationHistory({ store }),
    watch: createNotificationWatch({ store, clock, deliveries, ...countsOf(deps) }),
    deliveries,
    available: () =>
      Object.fromEntries(
        Array.from(
          Map.groupBy(ALERT_TYPES, ({ product }) => product),
          ([product, types]) => [
            product,
            types.map(({ type, display_name, description, filters }) => ({
              type,
              display_name,
              description,
              filter_options: filters.map((Key) => ({ Key, Optional: true, ComparisonOperator: "==" })),
            })),
          ],
        ),
      ),
    eligible: () => ({
      email: [{ type: "email", eligible: hasEmail, ready: hasEmail }],
      pagerduty: [{ type: "pagerduty", eligible: false, ready: false }],
      webhooks: [{ type: "webhook", eligible: true, ready: true }],
    }),
  };
}
