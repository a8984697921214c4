import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "#snapshot/edge-settings.ts";
import { EDGE_ERRORS, type EdgeErrorName } from "#edge/pages/edge-errors.ts";
import { errorPage, type Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { addField, editResponse, setField } from "#edge/http/header-edits.ts";
import { ACME_CHALLENGES } from "./acme-challenge.ts";
import { mobileRedirect } from "./mobile-redirect.ts";

/** The edge's ports, which a redirect may have to name. */
export interface EdgePorts {
  readonly http: number;
  readonly https: number;
}

/**
 * Applies the zone's settings before any rule: returns a page that answers the request, or null, and adds fields to the
 * response.
 */
export function applyZoneSettings(exchange: Exchange, ports: EdgePorts): Page | null {
  const settings = exchange.zone?.settings ?? EDGE_SETTINGS_DEFAULTS;
  if (settings === EDGE_SETTINGS_DEFAULTS) return null;
  if (isMisdirected(exchange, settings)) return refusal(exchange, "misdirected");
  addSecurityFields(exchange, settings);
  const other = schemeInstead(exchange, settings);
  if (other !== null) return redirect(exchange, other, ports);
  if (settings.mobile_redirect !== null) {
    const page = mobileRedirect(exchange, settings.mobile_redirect, (host) => authorityAt(exchange, exchange.scheme, ports, host));
    if (page !== null) return page;
  }
  if (!settings.websockets && asksForWebSocket(exchange)) return refusal(exchange, "websockets_off");
  return null;
}

const refusal = (exchange: Exchange, name: EdgeErrorName): Page => errorPage(EDGE_ERRORS[name], exchange.accept, exchange.ray_id);

/**
 * The connection was made under another name, or before the setting changed: the client may try again on another
 * connection (RFC 9110 §15.5.20).
 */
const isMisdirected = ({ tls }: Exchange, settings: EdgeSettings): boolean =>
  tls !== undefined && settings.min_tls_version === "1.3" && tls.version !== "TLSv1.3";

function schemeInstead({ scheme, path }: Exchange, settings: EdgeSettings): "http" | "https" | null {
  if (settings.ssl === "off") return scheme === "https" ? "http" : null;
  return settings.always_use_https && scheme === "http" && !path.startsWith(ACME_CHALLENGES) ? "https" : null;
}

function redirect(exchange: Exchange, scheme: "http" | "https", ports: EdgePorts): Page {
  const target = exchange.originForm.startsWith("/") ? exchange.originForm : "/";
  addField(editResponse(exchange), "Location", `${scheme}://${authorityAt(exchange, scheme, ports)}${target}`);
  return {
    status: 301,
    reason: "Moved Permanently",
    contentType: "text/plain; charset=utf-8",
    body: scheme === "https" ? "This site is served over HTTPS.\n" : "This site is served over plain HTTP.\n",
  };
}

const DEFAULT_PORTS: EdgePorts = { http: 80, https: 443 };

/** Visitors who named the edge's port get its other port; all others came through the usual ports. */
function authorityAt({ host, authority, scheme: from }: Exchange, scheme: "http" | "https", ports: EdgePorts, to = host): string {
  const port = authority === `${host}:${ports[from]}` ? ports[scheme] : DEFAULT_PORTS[scheme];
  return port === DEFAULT_PORTS[scheme] ? to : `${to}:${port}`;
}

const asksForWebSocket = (exchange: Exchange): boolean =>
  exchange
    .headers("upgrade")
    .some((value) => value.split(",").some((token) => token.trim().toLowerCase().split("/", 1)[0] === "websocket"));

/** RFC 6797 §7.2: the field is not sent over plain HTTP. It replaces the origin's own field. */
function addSecurityFields(exchange: Exchange, { security_header: header, ssl }: EdgeSettings): void {
  if (header.enabled && ssl !== "off" && exchange.scheme === "https")
    setField(editResponse(exchange), "Strict-Transport-Security", transportSecurity(header));
  if (header.nosniff) setField(editResponse(exchange), "X-Content-Type-Options", "nosniff");
}

const transportSecurity = (header: EdgeSettings["security_header"]): string =>
  `max-age=${header.max_age}${header.include_subdomains ? "; includeSubDomains" : ""}${header.preload ? "; preload" : ""}`;
