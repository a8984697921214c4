import { type AlertTypeName, alertType } from "#model/events/notification.ts";
import { planOf } from "#model/zones/plan.ts";
import { isSilenced, policiesOf, type PolicyRow } from "#store/events/notifications.ts";
import { insertDeliveries } from "#store/events/notification-deliveries.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";
import { deliveryRows } from "#control/notifications/delivery/delivery-rows.ts";
import { policyValue } from "#control/notifications/alerts/policy-rows.ts";

/** Adds notifications about an event of a zone in the event's unit, so that both are stored or neither is. */
export async function enqueueAlert(
  unit: Unit,
  nowMs: number,
  name: AlertTypeName,
  zoneId: string,
  alertOf: (zone: ZoneRow) => Alert,
): Promise<void> {
  const zone = await zoneRowById(unit.db, zoneId);
  const type = alertType(name);
  if (zone === undefined || type === undefined || (type.plan !== undefined && planOf(zone.plan).name !== type.plan)) return;
  const concerns = (policy: PolicyRow): boolean => policyValue(policy).filters?.["zones"]?.includes(zoneId) !== false;
  await enqueueAccountAlert(unit, nowMs, name, zone.account_id, () => alertOf(zone), concerns);
}

/** Adds notifications about an event of an account; `concerns` decides whether a policy applies. */
export async function enqueueAccountAlert(
  unit: Unit,
  nowMs: number,
  name: AlertTypeName,
  accountId: string,
  alertOf: () => Alert,
  concerns: (policy: PolicyRow) => boolean = () => true,
): Promise<void> {
  for (const policy of await policiesOf(unit.db, accountId)) {
    if (policy.enabled !== 1 || policy.alert_type !== name || !concerns(policy)) continue;
    if (await isSilenced(unit.db, policy.id, nowMs)) continue;
    await insertDeliveries(unit.db, deliveryRows(policy, alertOf(), nowMs));
  }
}
