import { createHmac } from "node:crypto";
import { type OutboundAddressAllowed, sendOutbound } from "#control/outbound.ts";

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

const TOTAL_MS = 10_000;

/**
 * POSTs JSON. With a secret come `<prefix>-webhook-auth`, the secret itself as receivers in the field compare it, and
 * `<prefix>-webhook-signature: t=<seconds>,v1=<hex>`, the HMAC-SHA-256 of `<seconds>.<body>`, which a receiver can check
 * without trusting whoever carries the message. Redirects are not followed.
 */
export const createWebhookSender =
  (deps: { readonly allowed: OutboundAddressAllowed; readonly vendorPrefix: string }): SendWebhook =>
  async ({ url, secret, id, body, atMs }) => {
    const headers = {
      "content-type": "application/json",
      "user-agent": "selvedge-notifications",
      [`${deps.vendorPrefix}-webhook-id`]: id,
      ...signatureHeaders(deps.vendorPrefix, secret, Math.floor(atMs / 1000), body),
    };
    const status = await sendOutbound({ method: "POST", url: new URL(url), headers, body, totalMs: TOTAL_MS }, deps.allowed);
    if (status < 200 || status > 299) throw new Error(`the webhook responded with status ${status}`);
  };

function signatureHeaders(prefix: string, secret: string, seconds: number, body: string): Record<string, string> {
  if (secret === "") return {};
  const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return { [`${prefix}-webhook-auth`]: secret, [`${prefix}-webhook-signature`]: `t=${seconds},v1=${signature}` };
}
