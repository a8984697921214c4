import { newId } from "#kernel/crypto/ids.ts";
import type { PolicyRow } from "#store/events/notifications.ts";
import type { DeliveryRow } from "#store/events/notification-deliveries.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";
import { destinationsOf, policyValue } from "#control/notifications/alerts/policy-rows.ts";

/** One delivery per mechanism of the policy, due immediately by default. */
export function deliveryRows(policy: PolicyRow, alert: Alert, nowMs: number, dueMs = nowMs): readonly DeliveryRow[] {
  const { name, description = "" } = policyValue(policy);
  return destinationsOf(policy).map((destination) => ({
    ...destination,
    id: newId(),
    account_id: policy.account_id,
    policy_id: policy.id,
    alert_type: policy.alert_type,
    name,
    description,
    body: JSON.stringify(alert),
    status: "pending",
    attempts: 0,
    due_ms: dueMs,
    created_ms: nowMs,
    sent_on: null,
    error: null,
  }));
}
