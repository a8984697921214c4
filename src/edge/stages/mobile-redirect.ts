import { STATUS_CODES } from "#kernel/net/node-http.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import { deviceType } from "#edge/exchange/device-type.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { addField, editResponse } from "#edge/http/header-edits.ts";
import { ACME_CHALLENGES } from "./acme-challenge.ts";

const FOUND = 302;

/**
 * The redirect of a mobile device to the zone's mobile name; null for other devices and requests. Only the apex and `www`
 * redirect: other names are mostly not web pages, and the mobile name would redirect to itself endlessly. A name without a
 * record would be an error to the visitor, so the page stays where it is. `portOf` gives the authority of another name at the
 * visitor's port.
 */
export function mobileRedirect(
  exchange: Exchange,
  { subdomain, strip_uri }: NonNullable<EdgeSettings["mobile_redirect"]>,
  portOf: (host: string) => string,
): Page | null {
  const { host, method, path, originForm, scheme } = exchange;
  const { zone } = exchange;
  if (zone === null || (host !== zone.entry.name && host !== `www.${zone.entry.name}`)) return null;
  const apex = zone.entry.name;
  const target = `${subdomain}.${apex}`;
  if (target === host || (method !== "GET" && method !== "HEAD") || path.startsWith(ACME_CHALLENGES)) return null;
  if (deviceType(exchange.user_agent) !== "mobile" || !mayExist(zone, target)) return null;
  const edits = editResponse(exchange);
  addField(edits, "Location", `${scheme}://${portOf(target)}${strip_uri || !originForm.startsWith("/") ? "/" : originForm}`);
  // RFC 9110 §12.5.5: shared caches must not send the redirect to other devices.
  addField(edits, "Vary", "User-Agent");
  return { status: FOUND, reason: STATUS_CODES[FOUND] ?? "", contentType: "text/plain; charset=utf-8", body: "" };
}

/** A partial zone has only those of its names here that visitors reach through the edge. */
const mayExist = ({ entry, names }: NonNullable<Exchange["zone"]>, name: string): boolean =>
  entry.type === "partial" || names.addressRecords(name).length > 0;
