import { type LookupAddress, lookup as lookUp } from "node:dns";
import type { LookupFunction } from "node:net";
import { PlatformError } from "#kernel/errors.ts";
import { classifyIp } from "#kernel/ip-class.ts";
import { parseIp } from "#kernel/ip.ts";

/** Whether webhooks may be at this address: asked of every address right before it is connected to. */
export type WebhookAddressAllowed = (address: string) => boolean;

/**
 * The address of a webhook. Throws `notification_invalid` for what is none, carries credentials, or would send over the
 * Internet in the clear.
 */
export function readWebhookUrl(text: string, allowed: WebhookAddressAllowed): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) throw invalid("must be an https URL");
  if (url.username !== "" || url.password !== "") throw invalid("must not carry credentials; set a secret instead");
  const address = addressIn(url);
  if (address !== undefined && !allowed(address))
    throw invalid(`${address} is an address to which nothing is sent (notifications.webhook_allow)`);
  if (url.protocol === "http:" && !isLocal(url, address)) throw invalid("must be an https URL, except for addresses of one's own network");
  return url;
}

/** The address that is written in place of a name. */
export const addressIn = (url: URL): string | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return parseIp(host) === undefined ? undefined : host;
};

const isLocal = (url: URL, address: string | undefined): boolean => {
  const parsed = address === undefined ? undefined : parseIp(address);
  return parsed === undefined ? url.hostname === "localhost" : classifyIp(parsed) !== "global";
};

/**
 * Resolves a name for a connection, and fails where any of its addresses is not allowed: the very addresses that were
 * checked are connected to, so that a name cannot change in between.
 */
export const checkedLookup =
  (allowed: WebhookAddressAllowed): LookupFunction =>
  (hostname, options, done) => {
    lookUp(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "", 0);
      const [first] = found;
      const refused = found.find(({ address }: LookupAddress) => !allowed(address));
      if (refused !== undefined || first === undefined) {
        const reason = refused === undefined ? "has no address" : `has the address ${refused.address}, to which nothing is sent`;
        return done(Object.assign(new Error(`${hostname} ${reason}`), { code: "EADDRNOTALLOWED" }), "", 0);
      }
      if (options.all === true) return done(null, found as never);
      return done(null, first.address, first.family);
    });
  };

const invalid = (message: string): PlatformError =>
  new PlatformError("notification_invalid", { message: `url ${message}`, source: "/url" });
