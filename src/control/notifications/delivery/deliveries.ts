import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import {
  arrived,
  attemptFailed,
  claimDelivery,
  countEmailsSent,
  deleteDeliveriesBefore,
  type DeliveryRow,
  dueDeliveries,
  insertDeliveries,
  pendingDeliveries,
  type PolicyRow,
  updateWebhook,
  webhookById,
} from "#store/events/notifications.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";
import { DeliveryError } from "./delivery-error.ts";
import { deliveryRows } from "./delivery-rows.ts";
import type { SendEmail } from "./send-email.ts";
import type { SendWebhook } from "./send-webhook.ts";
import { webhookBody } from "./webhook-kinds.ts";
import { secretContext } from "./webhooks.ts";

/** What has to be sent: stored with its cause, tried until it arrives or has failed too often. */
export interface Deliveries {
  /** One delivery for each mechanism of the policy, whose turn comes at once. */
  add(unit: Unit, policy: PolicyRow, alert: Alert): Promise<void>;
  /** The same, to be sent by `sendNow`; gives their ids. */
  hold(unit: Unit, policy: PolicyRow, alert: Alert): Promise<readonly string[]>;
  /** Tries these once; gives what failed. */
  sendNow(ids: readonly string[]): Promise<readonly FailedDelivery[]>;
  /** Tries what is due. */
  sendDue(): Promise<Attempts>;
}

/** What came of attempts, but for those that others have made. */
export interface Attempts {
  readonly sent: number;
  readonly failures: readonly FailedDelivery[];
}

export interface FailedDelivery {
  readonly id: string;
  readonly mechanism_type: string;
  /** The address, or the webhook's identifier. */
  readonly mechanism: string;
  /** For the account. */
  readonly error: string;
  /** For the operator: names no recipient. */
  readonly logged: string;
}

export interface DeliveriesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly sendWebhook: SendWebhook;
  /** Null where the operator has named no mail server. */
  readonly sendEmail: SendEmail | null;
}

/** How long after an attempt the next one comes; after the last of them the delivery has failed. */
const RETRY_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/** Twice what the longest attempt takes, that of an e-mail: until then, no other node tries the same, nor this one after a crash. */
const LEASE_MS = 120_000;
/** Longer than any delivery waits for its turn. */
const WAIT_MS_MAX = 10_800_000;
const AT_ONCE = 16;
/** Of one account in one round: receivers that hang hold up their own account's, and others for one attempt at most. */
const EACH_AT_ONCE = 4;
const PER_ROUND = 80;
/** Rounds follow one another as long as they are quick. */
const ROUNDS_MAX = 20;
const QUICK_MS = 2000;
/**
 * Of one account: whoever may write policies names whom they are sent to, and has tests sent as often as the API is asked. It is the
 * operator's server whose name they spoil.
 */
const EMAILS_AN_HOUR_MAX = 1000;
const HOUR_MS = 3_600_000;
const KEPT_MS = 90 * 86_400_000;
const CLEAN_EVERY_MS = 3_600_000;

export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  const { store, clock } = deps;

  const failed = (row: DeliveryRow, { message, isFinal }: DeliveryError): Partial<DeliveryRow> => {
    const retryMs = isFinal ? undefined : RETRY_MS[row.attempts];
    return { status: retryMs === undefined ? "failed" : "pending", error: message, due_ms: clock.nowMs() + (retryMs ?? 0) };
  };

  const attempt = async (row: DeliveryRow): Promise<FailedDelivery | "sent" | "not ours"> => {
    // Should this process end before the outcome is stored, the attempt counts and the next one comes all the same.
    const claimed = await store.write(({ db }) => claimDelivery(db, row, clock.nowMs() + LEASE_MS));
    if (!claimed.result) return "not ours";
    const fault = await send(deps, row).then(() => null, deliveryError);
    await store.write(async ({ db }) => {
      const now = isoMicros(clock.nowMicros());
      if (fault === null) await arrived(db, row, now);
      else await attemptFailed(db, row, failed(row, fault));
      if (row.mechanism_type === "webhook")
        await updateWebhook(db, row.mechanism, { [fault === null ? "last_success" : "last_failure"]: now });
    });
    const { id, mechanism_type, mechanism } = row;
    return fault === null ? "sent" : { id, mechanism_type, mechanism, error: fault.message, logged: fault.logged };
  };

  /** In their order, `AT_ONCE` at a time: one that takes long keeps its own place only. */
  const attemptAll = async (rows: readonly DeliveryRow[]): Promise<Attempts> => {
    const failures: FailedDelivery[] = [];
    let sent = 0;
    const left = rows.values();
    const work = async (): Promise<void> => {
      for (const row of left) {
        const outcome = await attempt(row);
        if (outcome === "sent") sent += 1;
        else if (outcome !== "not ours") failures.push(outcome);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { sent, failures };
  };

  let cleanedMs = 0;
  const clean = async (): Promise<void> => {
    if (Math.abs(clock.nowMs() - cleanedMs) < CLEAN_EVERY_MS) return;
    cleanedMs = clock.nowMs();
    await store.write(({ db }) => deleteDeliveriesBefore(db, cleanedMs - KEPT_MS));
  };

  return {
    add: ({ db }, policy, alert) => insertDeliveries(db, deliveryRows(policy, alert, clock.nowMs())),
    hold: async ({ db }, policy, alert) => {
      // Nobody else takes them before, and should this process end, they have their turn all the same.
      const rows = deliveryRows(policy, alert, clock.nowMs(), clock.nowMs() + LEASE_MS);
      await insertDeliveries(db, rows);
      return rows.map(({ id }) => id);
    },
    sendNow: async (ids) => (await attemptAll(await pendingDeliveries(store.read, ids))).failures,
    sendDue: async () => {
      await clean();
      const all = { sent: 0, failures: [] as FailedDelivery[] };
      for (let round = 0, begunMs = clock.nowMs(); round < ROUNDS_MAX && clock.nowMs() - begunMs < QUICK_MS; round++) {
        const nowMs = clock.nowMs();
        const due = await dueDeliveries(store.read, { nowMs, latestMs: nowMs + WAIT_MS_MAX }, EACH_AT_ONCE, PER_ROUND);
        if (due.length === 0) break;
        const { sent, failures } = await attemptAll(due);
        all.sent += sent;
        all.failures.push(...failures);
      }
      return all;
    },
  };
}

async function send({ store, clock, sealer, sendEmail, sendWebhook }: DeliveriesDeps, row: DeliveryRow): Promise<void> {
  const alert = JSON.parse(row.body) as Alert;
  if (row.mechanism_type === "email") {
    if (sendEmail === null) throw new Error("this installation has no mail server");
    await mayEmail(store, clock, row.account_id);
    return sendEmail(row.mechanism, alert, row.id);
  }
  const webhook = await webhookById(store.read, row.account_id, row.mechanism);
  if (webhook === undefined) {
    const logged = "the webhook was deleted";
    throw new DeliveryError(logged, { logged, isFinal: true });
  }
  const { id, account_id, policy_id, name, alert_type } = row;
  const context = { id, account_id, policy_id, policy_name: name, alert_type, atMs: row.created_ms };
  return sendWebhook({
    url: webhook.url,
    secret: webhook.secret === "" ? "" : sealer.open(webhook.secret, secretContext(webhook.id)).toString(),
    id,
    body: webhookBody(webhook.kind, alert, context),
    atMs: clock.nowMs(),
  });
}

async function mayEmail(store: Store, clock: Clock, accountId: string): Promise<void> {
  const micros = clock.nowMicros();
  const times = {
    from: isoMicros(micros - HOUR_MS * 1000),
    to: isoMicros(micros),
    begunMs: clock.nowMs() - HOUR_MS - WAIT_MS_MAX,
  };
  if ((await countEmailsSent(store.read, accountId, times)) >= EMAILS_AN_HOUR_MAX)
    throw new Error(`the limit of ${EMAILS_AN_HOUR_MAX} e-mails an hour for an account is reached`);
}

const ERROR_TEXT_MAX = 300;

function deliveryError(reason: unknown): DeliveryError {
  if (reason instanceof DeliveryError) return reason;
  const text = (reason instanceof Error ? reason.message || reason.name : String(reason)).slice(0, ERROR_TEXT_MAX);
  return new DeliveryError(text, { logged: text, isFinal: false, cause: reason });
}
