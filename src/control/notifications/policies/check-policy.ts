import { PlatformError } from "#kernel/errors/errors.ts";
import {
  ALERT_SERVICES,
  ALERT_TYPES,
  type AlertFilter,
  type AlertType,
  isAlertService,
  alertType,
  type NotificationPolicyCreate,
} from "#model/events/notification.ts";
import { planOf } from "#model/zones/plan.ts";
import { isEmail } from "#model/access/user.ts";
import { webhookById } from "#store/events/notifications.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById, zonesOfAccount } from "#store/zones/zones.ts";
import { intervalMs } from "#control/notifications/alerts/policy-rows.ts";

/** Mechanisms that the operator has configured. */
export interface MechanismsReady {
  readonly email: boolean;
}

/**
 * Throws `notification_invalid` unless the whole policy is valid. Fields that equal `before` are not checked again: a
 * policy for a deleted zone, or for another plan, can still be disabled.
 */
export async function checkPolicy(
  db: Unit["db"],
  accountId: string,
  policy: NotificationPolicyCreate,
  ready: MechanismsReady,
  before?: NotificationPolicyCreate,
): Promise<void> {
  const isNew = (field: keyof NotificationPolicyCreate): boolean =>
    before === undefined || JSON.stringify(policy[field]) !== JSON.stringify(before[field]);
  const type = alertType(policy.alert_type);
  if (type === undefined) {
    const known = ALERT_TYPES.map((row) => row.type).join(", ");
    throw invalid("/alert_type", `alert_type ${policy.alert_type} does not exist; it must be one of ${known}`);
  }
  if (policy.alert_interval !== undefined && intervalMs(policy.alert_interval) === undefined)
    throw invalid("/alert_interval", "alert_interval must be a number of minutes, hours or days: 30m, 4h, 1d");
  if (isNew("filters") || isNew("alert_type")) await checkFilters(db, accountId, type, policy.filters ?? {});
  if (isNew("mechanisms")) await checkMechanisms(db, accountId, policy.mechanisms, ready);
}

async function checkFilters(
  db: Unit["db"],
  accountId: string,
  type: AlertType,
  filters: NonNullable<NotificationPolicyCreate["filters"]>,
): Promise<void> {
  for (const [name, values] of Object.entries(filters)) {
    if (!type.filters.includes(name as AlertFilter))
      throw invalid(`/filters/${name}`, `${type.type} has no filter ${name}; it has ${type.filters.join(", ")}`);
    if (values.length === 0) throw invalid(`/filters/${name}`, `filters.${name} must not be empty; leave it out to choose all`);
    await FILTER_CHECKS[name as AlertFilter](db, accountId, type, values);
  }
  if (type.plan === undefined || filters["zones"] !== undefined) return;
  const zones = await zonesOfAccount(db, accountId);
  if (!zones.some(({ plan }) => planOf(plan).name === type.plan))
    throw invalid("/alert_type", `${type.display_name} is for zones of the ${type.plan} plan, of which the account has none`);
}

type FilterCheck = (db: Unit["db"], accountId: string, type: AlertType, values: readonly string[]) => Promise<void>;

const FILTER_CHECKS: Readonly<Record<AlertFilter, FilterCheck>> = {
  zones: async (db, accountId, type, values) => {
    for (const id of values) {
      const zone = await zoneRowById(db, id);
      if (zone === undefined || zone.account_id !== accountId) throw invalid("/filters/zones", `the account has no zone ${id}`);
      if (type.plan !== undefined && planOf(zone.plan).name !== type.plan)
        throw invalid("/filters/zones", `${type.display_name} is for zones of the ${type.plan} plan, which ${zone.name} is not`);
    }
  },
  services: async (_db, _accountId, _type, values) => {
    for (const text of values)
      if (!isAlertService(text))
        throw invalid(
          "/filters/services",
          `service ${text} does not exist; it must be one of ${ALERT_SERVICES.map(({ id, name }) => `${id} (${name})`).join(", ")}, or another service name of the vendor, for which this server records no events`,
        );
  },
  slo: async (_db, _accountId, _type, values) => {
    if (values.length !== 1 || !isSlo(values[0] ?? ""))
      throw invalid("/filters/slo", "filters.slo must be one percentage below 100, such as 99.9");
  },
};

/**
 * Characters that mail programs may interpret as several mailboxes; also address literals (RFC 5321 §4.1.3), which could
 * make the operator's server connect within its own network.
 */
const NO_MAILBOX = /[<>(),;:"\\[\]]/;

/** Percentage of requests that should succeed. */
const isSlo = (text: string): boolean => /^\d{1,2}(\.\d{1,4})?$/.test(text) && Number(text) > 0;

async function checkMechanisms(
  db: Unit["db"],
  accountId: string,
  { email = [], webhooks = [], pagerduty = [] }: NotificationPolicyCreate["mechanisms"],
  ready: MechanismsReady,
): Promise<void> {
  if (pagerduty.length > 0) throw invalid("/mechanisms/pagerduty", "PagerDuty is not supported; use a webhook");
  if (email.length + webhooks.length === 0) throw invalid("/mechanisms", "mechanisms must have an e-mail address or a webhook");
  if (email.length > 0 && !ready.email)
    throw invalid(
      "/mechanisms/email",
      "this installation sends no e-mail: its operator must set notifications.smtp_host and notifications.email_from",
    );
  for (const { id } of email)
    if (!isEmail(id) || NO_MAILBOX.test(id)) throw invalid("/mechanisms/email", `${id} is not a valid e-mail address`);
  for (const { id } of webhooks)
    if ((await webhookById(db, accountId, id)) === undefined) throw invalid("/mechanisms/webhooks", `the account has no webhook ${id}`);
  for (const [name, ids] of [
    ["email", email],
    ["webhooks", webhooks],
  ] as const)
    if (new Set(ids.map(({ id }) => id)).size < ids.length) throw invalid(`/mechanisms/${name}`, `mechanisms.${name} contains a duplicate`);
}

const invalid = (source: string, message: string): PlatformError => new PlatformError("notification_invalid", { message, source });
