import { PlatformError } from "#kernel/errors/errors.ts";
import type { HostnameFilter } from "#store/hostnames/custom-hostnames.ts";

/** The list's query, unvalidated. */
export interface HostnameQuery {
  readonly hostname?: string | undefined;
  readonly "hostname.exact"?: string | undefined;
  readonly "hostname.startsWith"?: string | undefined;
  readonly "hostname.contain"?: string | undefined;
  readonly id?: string | undefined;
  readonly ssl?: string | undefined;
  readonly ssl_status?: string | undefined;
  readonly hostname_status?: string | undefined;
  readonly certificate_authority?: string | undefined;
  readonly wildcard?: string | undefined;
  readonly custom_origin_server?: string | undefined;
  readonly order?: HostnameFilter["order"] | undefined;
  readonly direction?: HostnameFilter["direction"] | undefined;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PART = /^[a-z0-9._-]+$/;

/** Throws errors 1435, 1437 and 1438 (contract.md §5). */
export function readHostnameFilter(query: HostnameQuery): HostnameFilter {
  const exact = query["hostname.exact"] ?? query.hostname;
  const startsWith = query["hostname.startsWith"];
  const contains = query["hostname.contain"];
  if (query.id !== undefined) {
    if (!UUID.test(query.id)) throw new PlatformError("hostname_id_invalid", { source: "/id" });
    if (exact !== undefined || startsWith !== undefined || contains !== undefined)
      throw new PlatformError("hostname_filters_conflict", { source: "/id" });
  }
  if (contains !== undefined && !PART.test(contains.toLowerCase()))
    throw new PlatformError("hostname_contain_invalid", { source: "/hostname.contain" });
  return {
    id: query.id?.toLowerCase(),
    exact: exact?.toLowerCase(),
    startsWith: startsWith?.toLowerCase(),
    contains: contains?.toLowerCase(),
    withSsl: query.ssl === "1",
    sslStatus: query.ssl_status,
    status: query.hostname_status,
    certificateAuthority: query.certificate_authority,
    wildcard: query.wildcard === undefined ? undefined : query.wildcard === "true",
    customOriginServer: query.custom_origin_server?.toLowerCase(),
    order: query.order ?? "ssl",
    direction: query.direction ?? "asc",
  };
}
