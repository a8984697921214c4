import type { Call } from "#control/call.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { SpikeKind } from "#model/events/notification.ts";
import { deliveriesOf } from "#store/events/notification-deliveries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "./control.ts";
import { createDeliveries } from "#control/notifications/delivery/deliveries.ts";
import type { WindowCount } from "#control/notifications/spikes/event-counts.ts";
import { createNotificationPolicies } from "#control/notifications/policies/policies.ts";
import { createWindowClaims } from "#control/notifications/spikes/window-claims.ts";
import { createSilences } from "#control/notifications/policies/silences.ts";
import { createNotificationWatch, type FailedCheck } from "#control/notifications/spikes/watch.ts";

export const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 15, 10, 0);

/** Two zones, one of them of the Enterprise plan, whose events the test makes up. */
export async function watching(store: Store, ofWatch = store) {
  const clock = fixedClock(START);
  const { control, account_id, call } = await controlOver(store, { clock });
  const names = ["one.example", "two.example"];
  const [one = "", two = ""] = await Promise.all(
    names.map(async (name) => (await control.zones.create(call(), { name, account: { id: account_id } })).id),
  );
  await control.zones.edit(call(), one, { plan: { id: "enterprise" } });
  const { id: webhook } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  const current = { kind: "security_events" as SpikeKind, counts: [] as WindowCount[], usual: 0, requests: 0 };
  const sent: string[] = [];
  const deliveries = createDeliveries({
    store,
    clock,
    sealer: createSealer(Buffer.alloc(32, 7)),
    sendEmail: null,
    sendWebhook: async ({ url }) => void sent.push(url),
  });
  const counts = {
    inWindow: async (kind: SpikeKind) => (kind === current.kind ? current.counts : []),
    requests: async () => current.requests,
    windows: async (_kind: SpikeKind, _zone: string, _service: string | null, fromMs: number, toMs: number) =>
      Array.from({ length: (toMs - fromMs) / (5 * MINUTE_MS) }, () => current.usual),
  };
  const watch = createNotificationWatch({ store: ofWatch, clock, counts, deliveries, rounds: createWindowClaims() });
  const policies = createNotificationPolicies({ store, clock, deliveries, ready: { email: false } });
  const policy = async (alert_type: string, filters?: Record<string, string[]>, alert_interval?: string) =>
    policies.create(call(), account_id, {
      name: "p",
      enabled: true,
      alert_type,
      mechanisms: { webhooks: [{ id: webhook }] },
      ...(filters && { filters }),
      ...(alert_interval && { alert_interval }),
    });
  const subjects = async (): Promise<string[]> =>
    (await deliveriesOf(store.read, account_id, {}, { limit: 100, offset: 0 })).map(({ body }) => JSON.parse(body).subject).toReversed();
  const failures: FailedCheck[] = [];
  /** A minute later, with these events in the last five minutes. */
  const minute = async (...now: WindowCount[]): Promise<number> => {
    clock.advance(MINUTE_MS);
    current.counts = now;
    const { told, failed } = await watch.look(call());
    failures.push(...failed);
    return told;
  };
  return {
    store,
    clock,
    call: call as () => Call,
    account_id,
    one,
    two,
    current,
    minute,
    policy,
    policies,
    deliveries,
    sent,
    webhook,
    control,
    /** Over the watch's store. */
    ofLate: createNotificationPolicies({ store: ofWatch, clock, deliveries, ready: { email: false } }),
    subjects,
    failures,
    silences: createSilences({ store, clock }),
  };
}

export const events = (zone_id: string, count: number, service: WindowCount["service"] = "firewallcustom"): WindowCount => ({
  zone_id,
  count,
  service,
});
