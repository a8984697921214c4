import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { NotificationPolicy, NotificationPolicyCreate, NotificationPolicyUpdate } from "#model/events/notification.ts";
import {
  deletePolicy,
  endSpikes,
  forgetSpikes,
  insertPolicy,
  policiesOf,
  policyById,
  type PolicyRow,
  updatePolicy,
} from "#store/events/notifications.ts";
import { failPending } from "#store/events/notification-deliveries.ts";
import type { AuditEntry, Store, Unit } from "#store/database/store.ts";
import { testAlert } from "#control/notifications/alerts/alert.ts";
import { checkPolicy, type MechanismsReady } from "./check-policy.ts";
import type { Deliveries } from "#control/notifications/delivery/deliveries.ts";
import { destinationsOf, policyView } from "#control/notifications/alerts/policy-rows.ts";

/**
 * Notification policies of an account. Throws `notification_not_found`, and `notification_invalid` with the location of
 * the fault.
 */
export interface NotificationPolicies {
  list(accountId: string): Promise<readonly NotificationPolicy[]>;
  get(accountId: string, id: string): Promise<NotificationPolicy>;
  create(call: Call, accountId: string, body: NotificationPolicyCreate): Promise<{ id: string }>;
  /** Omitted fields keep their value. */
  update(call: Call, accountId: string, id: string, body: NotificationPolicyUpdate): Promise<{ id: string }>;
  delete(call: Call, accountId: string, id: string): Promise<{ id: string }>;
  /**
   * Sends a test to every mechanism of the policy, and waits for the first attempts. Throws `notification_not_sent` with
   * the failures.
   */
  test(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

export interface NotificationPoliciesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly deliveries: Deliveries;
  readonly ready: MechanismsReady;
}

const POLICIES_MAX = 200;

export function createNotificationPolicies(deps: NotificationPoliciesDeps): NotificationPolicies {
  const { store, clock, deliveries, ready } = deps;
  return {
    list: async (accountId) => (await policiesOf(store.read, accountId)).map(policyView),
    get: async (accountId, id) => policyView(await own(store.read, accountId, id)),

    create: (call, accountId, body) =>
      commit(deps, call, async (unit) => {
        if ((await policiesOf(unit.db, accountId)).length >= POLICIES_MAX)
          throw new PlatformError("notification_invalid", { message: `an account has at most ${POLICIES_MAX} notification policies` });
        await checkPolicy(unit.db, accountId, body, ready);
        const now = isoMicros(clock.nowMicros());
        const row: PolicyRow = { id: newId(), account_id: accountId, ...columnsOf(body), created_on: now, modified_on: now };
        await insertPolicy(unit.db, row);
        unit.audit({ ...audit(call, row, "notification_policy.create"), after: policyView(row) });
        return { id: row.id };
      }),

    update: (call, accountId, id, body) =>
      commit(deps, call, async (unit) => {
        const before = await own(unit.db, accountId, id);
        const { id: _id, created: _created, modified: _modified, ...old } = policyView(before);
        const policy: NotificationPolicyCreate = { ...old, ...body };
        await checkPolicy(unit.db, accountId, policy, ready, old);
        const changed = { ...columnsOf(policy), modified_on: isoMicros(clock.nowMicros()) };
        await updatePolicy(unit.db, id, changed);
        await leaveBehind(unit, before, { ...before, ...changed });
        unit.audit({
          ...audit(call, before, "notification_policy.update"),
          before: policyView(before),
          after: policyView({ ...before, ...changed }),
        });
        return { id };
      }),

    delete: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        const row = await own(unit.db, accountId, id);
        await deletePolicy(unit.db, id);
        unit.audit({ ...audit(call, row, "notification_policy.delete"), before: policyView(row) });
        return { id };
      }),

    test: async (call, accountId, id) => {
      const ids = await commit(deps, call, async (unit) => {
        const row = await own(unit.db, accountId, id);
        return deliveries.hold(unit, row, testAlert(policyView(row).name));
      });
      if (ids.length === 0)
        throw new PlatformError("notification_not_sent", {
          message: "the account has sent as many messages as an hour allows",
          headers: { "x-should-retry": "false" },
        });
      const failures = await deliveries.sendNow(ids);
      if (failures.length > 0)
        throw new PlatformError("notification_not_sent", {
          message: failures.map(({ mechanism_type, mechanism, error }) => `${mechanism_type} ${mechanism}: ${error}`).join("; "),
          // Clients retry 5xx responses (contract.md §1), which would send another test.
          headers: { "x-should-retry": "false" },
        });
      return { id };
    },
  };
}

/** Discards state that no longer applies after the change. Spikes stay known if only filters change. */
async function leaveBehind({ db }: Unit, before: PolicyRow, after: PolicyRow): Promise<void> {
  if (after.alert_type !== before.alert_type) await forgetSpikes(db, after.id);
  // Spikes are not monitored while the policy is disabled.
  if (after.enabled !== before.enabled) await endSpikes(db, after.id);
  const isOff = after.enabled === 0 && before.enabled === 1;
  await failPending(db, after.id, isOff ? [] : destinationsOf(after), "the policy has changed and no longer uses this mechanism");
}

const columnsOf = ({ enabled, alert_type, ...value }: NotificationPolicyCreate): Pick<PolicyRow, "enabled" | "alert_type" | "value"> => ({
  enabled: Number(enabled),
  alert_type,
  value: JSON.stringify(value),
});

async function own(db: Unit["db"], accountId: string, id: string): Promise<PolicyRow> {
  const row = await policyById(db, accountId, id);
  if (row === undefined) throw new PlatformError("notification_not_found");
  return row;
}

const audit = (call: Call, row: PolicyRow, action: string): AuditEntry => ({
  action,
  actor: auditActor(call),
  account_id: row.account_id,
  zone_id: null,
  resource: { type: "notification_policy", id: row.id },
});
