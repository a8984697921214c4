import type { RequestRow } from "#events/rows/rows.ts";
import { viewedUrl } from "#control/open-zone/url-paths.ts";
import type { UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** The zone of a row, as it is now. */
export interface LoggedZone extends Pick<RequestView, "zone_name" | "zone_plan"> {
  readonly normalization: UrlNormalization;
}

/** A row of the request log as rules see a request: what the log does not contain is missing. */
export function requestViewOf(row: RequestRow, { zone_name, zone_plan, normalization }: LoggedZone): RequestView {
  return {
    zone_name,
    zone_plan,
    ...viewedUrl(row.path, row.query, normalization),
    ray_id: row.ray_id,
    method: row.method,
    scheme: row.scheme,
    host: row.host,
    user_agent: row.user_agent,
    client_ip: row.client_ip,
    headers: (name) => KEPT_HEADERS[name]?.(row) ?? [],
    http_version: row.http_version === "" ? undefined : row.http_version,
    at_ms: row.at_ms,
    tls: row.tls_version === undefined || row.tls_version === "" ? undefined : { version: row.tls_version },
    place: row.country === undefined || row.country === "" ? undefined : { country: row.country },
  };
}

export const responseViewOf = (row: RequestRow): ResponseView => ({
  status: row.status,
  content_type: row.content_type ?? "",
  headers: () => [],
});

/** Fields of expressions that these views answer as the edge would. */
export const RECORDED_FIELDS: ReadonlySet<string> = new Set([
  ...["cf.ray_id", "cf.tls_version", "cf.zone.name", "cf.zone.plan", "ssl"],
  ...["http.host", "http.user_agent", "http.request.method", "http.request.version"],
  ...["http.request.full_uri", "http.request.timestamp.sec", "http.request.timestamp.msec"],
  ...["uri", "uri.path", "uri.path.extension", "uri.query", "uri.args", "uri.args.names", "uri.args.values"].flatMap((name) => [
    `http.request.${name}`,
    `raw.http.request.${name}`,
  ]),
  "raw.http.request.full_uri",
  ...["ip.src", "ip.src.country", "ip.geoip.country"],
  ...["http.response.code", "http.response.content_type.media_type"],
]);

const KEPT_HEADERS: Readonly<Record<string, (row: RequestRow) => readonly string[]>> = {
  host: ({ host }) => [host],
  "user-agent": (row) => (row.user_agent === "" ? [] : [row.user_agent]),
};
