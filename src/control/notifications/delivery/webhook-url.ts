import { type OutboundAddressAllowed, readOutboundUrl } from "#control/outbound.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/** The URL of a webhook. Throws `notification_invalid` for a URL that cannot be used (`readOutboundUrl`). */
export function readWebhookUrl(text: string, allowed: OutboundAddressAllowed): URL {
  const url = readOutboundUrl(text, allowed);
  if (url instanceof URL) return url;
  const hint = url.problem === "must not carry credentials" ? "; set a secret instead" : "";
  throw new PlatformError("notification_invalid", { message: `url ${url.problem}${hint}`, source: "/url" });
}
