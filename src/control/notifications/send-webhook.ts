import { createHmac } from "node:crypto";
import { addressIn, checkedLookup, type WebhookAddressAllowed } from "./webhook-url.ts";

export interface WebhookMessage {
  readonly url: string;
  /** Empty where the receiver asked for none. */
  readonly secret: string;
  /** The same for each attempt, so that receivers can tell a repetition. */
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
}

/** Sends once; rejects with a reason for people unless the receiver answers with a 2xx status. */
export type SendWebhook = (message: WebhookMessage) => Promise<void>;

const CONNECT_MS = 5_000;
const TOTAL_MS = 10_000;
/** Of an answer nothing but its status counts. */
const ANSWER_BYTES_MAX = 65_536;

/**
 * POSTs JSON. With a secret come `<prefix>-webhook-auth`, the secret itself as receivers in the field compare it, and
 * `<prefix>-webhook-signature: t=<seconds>,v1=<hex>`, the HMAC-SHA-256 of `<seconds>.<body>`, which a receiver can check
 * without trusting whoever carries the message. Redirects are not followed.
 */
export const createWebhookSender =
  (deps: { readonly allowed: WebhookAddressAllowed; readonly vendorPrefix: string }): SendWebhook =>
  async ({ url, secret, id, body, atMs }) => {
    const target = new URL(url);
    const address = addressIn(target);
    // A connection to an address looks nothing up.
    if (address !== undefined && !deps.allowed(address)) throw new Error(`${address} is an address to which nothing is sent`);
    // A large library, and most installations have no webhooks.
    const { Agent, request } = await import("undici");
    const dispatcher = new Agent({ connect: { timeout: CONNECT_MS, lookup: checkedLookup(deps.allowed) } });
    try {
      const { statusCode, body: answer } = await request(target, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": "selvedge-notifications",
          [`${deps.vendorPrefix}-webhook-id`]: id,
          ...signatureHeaders(deps.vendorPrefix, secret, Math.floor(atMs / 1000), body),
        },
        body,
        dispatcher,
        signal: AbortSignal.timeout(TOTAL_MS),
      });
      await answer.dump({ limit: ANSWER_BYTES_MAX });
      if (statusCode < 200 || statusCode > 299) throw new Error(`the webhook answered with status ${statusCode}`);
    } finally {
      await dispatcher.destroy();
    }
  };

function signatureHeaders(prefix: string, secret: string, seconds: number, body: string): Record<string, string> {
  if (secret === "") return {};
  const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return { [`${prefix}-webhook-auth`]: secret, [`${prefix}-webhook-signature`]: `t=${seconds},v1=${signature}` };
}
