import type { Call } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import type { AlertTypeName } from "#model/events/notification.ts";
import { deliveriesOf } from "#store/events/notification-deliveries.ts";
import type { Store } from "#store/database/store.ts";

/** Subscribes the account to these alerts. */
export async function wantAlerts(
  { control, call, account_id }: { readonly control: Control; call(): Call; readonly account_id: string },
  types: readonly AlertTypeName[],
  filters?: Record<string, string[]>,
): Promise<void> {
  const { id } = await control.notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://hooks.example.com/" });
  const mechanisms = { webhooks: [{ id }] };
  for (const alert_type of types) {
    const policy = { name: alert_type, enabled: true, alert_type, mechanisms, ...(filters && { filters }) };
    await control.notifications.policies.create(call(), account_id, policy);
  }
}

/** The alerts so far, oldest first: the policy's type and the subject. */
export const alertsTold = async (store: Store, accountId: string): Promise<readonly (readonly [type: string, subject: string])[]> =>
  (await deliveriesOf(store.read, accountId, {}, { limit: 100, offset: 0 }))
    .map(({ alert_type, body }) => [alert_type, (JSON.parse(body) as { subject: string }).subject] as const)
    .toReversed();
