import type { Call } from "#control/call.ts";
import { holdsInAccount } from "#control/access/grants.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { OutboundAddressAllowed } from "#control/outbound.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Webhook, WebhookKind, WebhookWrite } from "#model/events/notification.ts";
import {
  deleteWebhook,
  insertWebhook,
  policiesOf,
  updateWebhook,
  webhookById,
  type WebhookRow,
  webhooksOf,
  replaceWebhookUrl,
  unsealedWebhooks,
} from "#store/events/notifications.ts";
import type { AuditEntry, Store, Unit } from "#store/database/store.ts";
import { mechanismsOf } from "#control/notifications/alerts/policy-rows.ts";
import { webhookKindOf } from "./webhook-kinds.ts";
import { readWebhookUrl } from "./webhook-url.ts";

/** Webhooks of an account for notifications. Throws `notification_not_found`, and `notification_invalid` for invalid URLs. */
export interface Webhooks {
  list(call: Call, accountId: string): Promise<readonly Webhook[]>;
  get(call: Call, accountId: string, id: string): Promise<Webhook>;
  create(call: Call, accountId: string, body: WebhookWrite): Promise<{ id: string }>;
  /** Replaces the webhook; an absent secret is kept, and an empty one removed. */
  update(call: Call, accountId: string, id: string, body: WebhookWrite): Promise<{ id: string }>;
  /** Seals the URLs of older releases, some at a time; returns their number. */
  sealOlder(): Promise<number>;
  /** Throws `notification_in_use` while a policy uses it. */
  delete(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

export interface WebhooksDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly allowed: OutboundAddressAllowed;
}

const WEBHOOKS_MAX = 100;
const SEALED_AT_ONCE = 100;

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { store, clock, sealer, allowed } = deps;
  const seal = (secret: string, id: string): string => (secret === "" ? "" : sealer.seal(secret, secretContext(id)));
  const opened = (row: WebhookRow): WebhookRow => ({ ...row, url: webhookUrl(row, sealer) });
  return {
    list: async (call, accountId) => (await webhooksOf(store.read, accountId)).map(opened).map(viewFor(call, accountId)),
    get: async (call, accountId, id) => viewFor(call, accountId)(opened(await own(store.read, accountId, id))),

    sealOlder: async () => {
      for (let sealed = 0; ;) {
        const rows = await unsealedWebhooks(store.read, SEALED_AT_ONCE);
        if (rows.length === 0) return sealed;
        await store.write(async ({ db }) => {
          for (const { id, url } of rows) await replaceWebhookUrl(db, { id, url }, sealer.seal(url, urlContext(id)));
        });
        sealed += rows.length;
      }
    },

    create: (call, accountId, body) => {
      const url = readWebhookUrl(body.url, allowed);
      return commit(deps, call, async (unit) => {
        if ((await webhooksOf(unit.db, accountId)).length >= WEBHOOKS_MAX)
          throw new PlatformError("notification_invalid", { message: `an account has at most ${WEBHOOKS_MAX} webhooks` });
        const id = newId();
        const row: WebhookRow = {
          id,
          account_id: accountId,
          name: body.name,
          url: url.href,
          secret: seal(body.secret ?? "", id),
          kind: webhookKindOf(url),
          created_on: isoMicros(clock.nowMicros()),
          last_success: null,
          last_failure: null,
        };
        await insertWebhook(unit.db, { ...row, url: sealer.seal(row.url, urlContext(id)) });
        unit.audit({ ...audit(call, row, "notification_webhook.create"), after: masked(row) });
        return { id };
      });
    },

    update: (call, accountId, id, body) => {
      const url = readWebhookUrl(body.url, allowed);
      return commit(deps, call, async (unit) => {
        const before = opened(await own(unit.db, accountId, id));
        const changed = {
          name: body.name,
          url: url.href,
          kind: webhookKindOf(url),
          ...(body.secret === undefined ? {} : { secret: seal(body.secret, id) }),
        };
        await updateWebhook(unit.db, id, { ...changed, url: sealer.seal(changed.url, urlContext(id)) });
        unit.audit({
          ...audit(call, before, "notification_webhook.update"),
          before: masked(before),
          after: masked({ ...before, ...changed }),
        });
        return { id };
      });
    },

    delete: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        const row = opened(await own(unit.db, accountId, id));
        const user = (await policiesOf(unit.db, accountId)).find((policy) => mechanismsOf(policy).webhooks?.some((one) => one.id === id));
        if (user !== undefined)
          throw new PlatformError("notification_in_use", { message: `the notification policy ${user.id} names this webhook` });
        await deleteWebhook(unit.db, id);
        unit.audit({ ...audit(call, row, "notification_webhook.delete"), before: masked(row) });
        return { id };
      }),
  };
}

/** Sealing context of a webhook's secret. */
export const secretContext = (id: string): string => `notification_webhook/${id}`;

const urlContext = (id: string): string => `notification_webhook/${id}/url`;

/** The URL of a row, which is sealed, since its path may be a credential. Rows of older releases have it as it is until they change. */
export const webhookUrl = ({ id, url }: Pick<WebhookRow, "id" | "url">, sealer: Sealer): string =>
  url.startsWith("http") ? url : sealer.open(url, urlContext(id)).toString();

async function own(db: Unit["db"], accountId: string, id: string): Promise<WebhookRow> {
  const row = await webhookById(db, accountId, id);
  if (row === undefined) throw new PlatformError("notification_not_found");
  return row;
}

const audit = (call: Call, row: WebhookRow, action: string): AuditEntry => ({
  action,
  actor: auditActor(call),
  account_id: row.account_id,
  zone_id: null,
  resource: { type: "notification_webhook", id: row.id },
});

/**
 * The path and query of a chat service's URL are its credential: who has them can post there. Only callers who may write see them, because they
 * could replace them anyway.
 */
const viewFor = ({ actor }: Call, accountId: string): ((row: WebhookRow) => Webhook) =>
  holdsInAccount(actor, accountId, ["Notifications Write"]) ? view : masked;

const masked = (row: WebhookRow): Webhook => ({ ...view(row), url: `${new URL(row.url).origin}/********` });

const view = (row: WebhookRow): Webhook => ({
  id: row.id,
  name: row.name,
  url: row.url,
  type: row.kind as WebhookKind,
  created_at: row.created_on,
  ...(row.last_success === null ? {} : { last_success: row.last_success }),
  ...(row.last_failure === null ? {} : { last_failure: row.last_failure }),
});
