import type { IncomingHttpHeaders } from "node:http";
import type { HeaderRules } from "#gateway/http/headers.ts";
import type { RequestAddress, Upstream } from "#gateway/providers/providers.ts";
import { originForm } from "#gateway/request/origin-form.ts";
import type { RequestPath } from "#gateway/request/request-path.ts";

/** Fields in which a provider names addresses that its client shall use next: redirects, uploads in steps, long operations. */
const LINKS = ["location", "operation-location", "x-goog-upload-url", "x-goog-upload-control-url"] as const;

/** A request that passes to one provider. */
export interface LinkedRequest {
  /** As the client sent it, which is shorter than the whole path if the host name stands for a gateway. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly path: RequestPath;
  readonly upstream: Upstream;
  readonly place: RequestAddress;
}

/**
 * The same rules, with addresses below the provider's base as addresses at the gateway, so that the next request has its
 * limits, its row and its stored key, too. Clients also replace the host alone, and would miss the gateway's path.
 */
export const withOwnLinks = (rules: HeaderRules, request: LinkedRequest, hasTls: boolean): HeaderRules => ({
  ...rules,
  toClient: (headers) => rules.toClient(LINKS.some((name) => headers[name] !== undefined) ? translated(headers, request, hasTls) : headers),
});

function translated(headers: IncomingHttpHeaders, request: LinkedRequest, hasTls: boolean): IncomingHttpHeaders {
  const result = { ...headers };
  for (const name of LINKS) {
    const value = headers[name];
    const site = name === "location" ? "" : siteOf(request.headers, hasTls);
    if (typeof value === "string" && site !== undefined) result[name] = linkOf(value, site, request);
  }
  return result;
}

/** An address elsewhere stays as it is; a relative one is completed, because it is meant to be read at the provider. */
function linkOf(value: string, site: string, { target, headers, path, upstream, place }: LinkedRequest): string {
  const url = URL.parse(value, place.origin + place.path);
  if (url === null || url.origin !== place.origin) return value;
  // Addresses of providers with a place for each path do not lead back to a path at the gateway.
  if (upstream.provider.place !== undefined || !url.pathname.startsWith(`${upstream.basePath}/`)) return url.href;
  const own = originForm(target, headers.host) ?? target;
  const prefix = own.slice(0, own.length - path.rest.length - path.query.length);
  return site + prefix + url.pathname.slice(upstream.basePath.length) + url.search + url.hash;
}

/** The scheme and host that the client sees; undefined without a Host field. A proxy or the edge may have ended TLS. */
function siteOf(headers: IncomingHttpHeaders, hasTls: boolean): string | undefined {
  const isSecure = hasTls || headers["x-forwarded-proto"] === "https";
  return headers.host === undefined ? undefined : `${isSecure ? "https" : "http"}://${headers.host}`;
}
