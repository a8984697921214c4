import { type Clock, isoMicros } from "#kernel/clock.ts";
import { createSemaphore, type Semaphore } from "#kernel/semaphore.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { deleteSpikesBefore, type PolicyRow, updateWebhook, webhookById } from "#store/events/notifications.ts";
import {
  markSent,
  attemptFailed,
  claimDelivery,
  countEmailsSent,
  deleteDeliveriesBefore,
  deleteOldDeliveries,
  type DeliveryRow,
  dueDeliveries,
  insertDeliveries,
  pendingDeliveries,
} from "#store/events/notification-deliveries.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Alert } from "#control/notifications/alerts/alert.ts";
import { DeliveryError } from "./delivery-error.ts";
import { deliveryRows } from "./delivery-rows.ts";
import type { SendEmail } from "./send-email.ts";
import type { SendWebhook } from "./send-webhook.ts";
import { webhookBody } from "./webhook-kinds.ts";
import { secretContext, webhookUrl } from "./webhooks.ts";

/** Pending messages: stored in the transaction of their cause, and retried until they arrive or have failed too often. */
export interface Deliveries {
  /** Adds one delivery per mechanism of the policy, due immediately. */
  add(unit: Unit, policy: PolicyRow, alert: Alert): Promise<void>;
  /** Adds deliveries for `sendNow`; returns their ids. */
  hold(unit: Unit, policy: PolicyRow, alert: Alert): Promise<readonly string[]>;
  /** Tries these once; returns the failures. */
  sendNow(ids: readonly string[]): Promise<readonly FailedDelivery[]>;
  /** Tries the due deliveries. */
  sendDue(): Promise<Attempts>;
}

/** Results of attempts, without those of other nodes. */
export interface Attempts {
  readonly sent: number;
  readonly failures: readonly FailedDelivery[];
}

export interface FailedDelivery {
  readonly id: string;
  readonly mechanism_type: string;
  /** The address, or the webhook's id. */
  readonly mechanism: string;
  /** For the account. */
  readonly error: string;
  /** For the operator; does not name recipients. */
  readonly logged: string;
}

export interface DeliveriesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly sendWebhook: SendWebhook;
  /** Null if the operator has configured no mail server. */
  readonly sendEmail: SendEmail | null;
}

/** Delays between attempts; after the last of them, the delivery has failed. */
const RETRY_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/** Twice the duration of the longest attempt, that of an e-mail: until then, the delivery is claimed, also after a crash. */
const LEASE_MS = 120_000;
/** Longer than any delivery waits for its next attempt. */
const WAIT_MS_MAX = 10_800_000;
const AT_ONCE = 16;
/** Concurrent attempts per account: slow receivers delay their own account, and others by one attempt at most. */
const EACH_AT_ONCE = 4;
const PER_ROUND = 80;
/** Rounds follow immediately while they are quick. */
const ROUNDS_MAX = 20;
const QUICK_MS = 2000;
/**
 * E-mails per account and hour: a user who may write policies chooses the recipients and can send any number of tests,
 * which would damage the reputation of the operator's mail server.
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
    // If the process ends before the result is stored, the attempt counts and the next one follows.
    const claimed = await store.write(({ db }) => claimDelivery(db, row, clock.nowMs() + LEASE_MS));
    if (!claimed.result) return "not ours";
    const fault = await send(deps, row).then(() => null, deliveryError);
    await store.write(async ({ db }) => {
      const now = isoMicros(clock.nowMicros());
      if (fault === null) await markSent(db, row, now);
      else await attemptFailed(db, row, failed(row, fault));
      if (row.mechanism_type === "webhook")
        await updateWebhook(db, row.mechanism, { [fault === null ? "last_success" : "last_failure"]: now });
    });
    const { id, mechanism_type, mechanism } = row;
    return fault === null ? "sent" : { id, mechanism_type, mechanism, error: fault.message, logged: fault.logged };
  };

  /** In order, `AT_ONCE` at a time; a slow attempt occupies only its own place. */
  const attemptAll = async (rows: readonly DeliveryRow[], inTurn: Semaphore["run"] = (task) => task()): Promise<Attempts> => {
    const failures: FailedDelivery[] = [];
    let sent = 0;
    const left = rows.values();
    const work = async (): Promise<void> => {
      for (const row of left) {
        const outcome = await inTurn(() => attempt(row));
        if (outcome === "sent") sent += 1;
        else if (outcome !== "not ours") failures.push(outcome);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { sent, failures };
  };

  /** Tests of an account share places, however many it sends at once. */
  const testing = new Map<string, { readonly turns: Semaphore; count: number }>();
  let cleanedMs = 0;
  const clean = async (): Promise<void> => {
    if (Math.abs(clock.nowMs() - cleanedMs) < CLEAN_EVERY_MS) return;
    cleanedMs = clock.nowMs();
    await store.write(({ db }) => deleteDeliveriesBefore(db, cleanedMs - KEPT_MS));
    await store.write(({ db }) => deleteOldDeliveries(db));
    await store.write(({ db }) => deleteSpikesBefore(db, cleanedMs - KEPT_MS));
  };

  return {
    add: async ({ db }, policy, alert) => void (await insertDeliveries(db, deliveryRows(policy, alert, clock.nowMs()))),
    hold: async ({ db }, policy, alert) => {
      // Due later, so that no other node sends them now; if this process ends, they become due.
      const rows = deliveryRows(policy, alert, clock.nowMs(), clock.nowMs() + LEASE_MS);
      return (await insertDeliveries(db, rows)).map(({ id }) => id);
    },
    sendNow: async (ids) => {
      const rows = await pendingDeliveries(store.read, ids);
      const [first] = rows;
      if (first === undefined) return [];
      const sending = testing.get(first.account_id) ?? { turns: createSemaphore(AT_ONCE, Infinity), count: 0 };
      testing.set(first.account_id, sending);
      sending.count += 1;
      try {
        return (await attemptAll(rows, sending.turns.run)).failures;
      } finally {
        sending.count -= 1;
        if (sending.count === 0) testing.delete(first.account_id);
      }
    },
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
    url: webhookUrl(webhook, sealer),
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
