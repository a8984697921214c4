import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { Zones } from "#edge/zones/zones.ts";

const CHALLENGE = /^\/\.well-known\/[a-z0-9]+-custom-hostname-challenge\/(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Answers with the token of a custom hostname, validated or not, under its name (custom-hostnames.md §1). Only if the
 * same account serves the name: another account could enter any hostname.
 */
export function hostnameToken(exchange: Exchange, zones: Pick<Zones, "customHostnames" | "serving" | "byId">): Page | null {
  if (!exchange.path.startsWith("/.well-known/")) return null;
  const id = CHALLENGE.exec(exchange.path)?.groups?.["id"];
  const entry = id === undefined ? undefined : zones.customHostnames.byId(id);
  if (entry?.hostname !== exchange.host) return null;
  const serving = zones.serving(exchange.host)?.zone.entry;
  if (serving === undefined || zones.byId(entry.zone_id)?.entry.account_id !== serving.account_id) return null;
  return { status: 200, reason: "OK", contentType: "text/plain; charset=utf-8", body: entry.token };
}
