import { createHmac } from "node:crypto";
import { type OutboundAddressAllowed, sendOutbound } from "#control/outbound.ts";

export interface WebhookMessage {
  readonly url: string;
  /** Empty if the webhook has no secret. */
  readonly secret: string;
  /** The same for each attempt, so that receivers recognize repetitions. */
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
}

/** Sends once; rejects with a reason for people unless the response has a 2xx status. */
export type SendWebhook = (message: WebhookMessage) => Promise<void>;

const TOTAL_MS = 10_000;

/**
 * Sends JSON by POST. With a secret it adds `<prefix>-webhook-auth`, which is the secret itself as existing receivers
 * expect, and `<prefix>-webhook-signature: t=<seconds>,v1=<hex>`, the HMAC-SHA-256 of `<seconds>.<body>`, which proves
 * the sender to a receiver even through intermediaries. Does not follow redirects.
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
