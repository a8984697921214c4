import type { SslSettings } from "#model/hostnames/custom-hostname.ts";
import type { CustomHostnameEntry } from "../entries.ts";

/** The columns of a custom hostname that its entry uses. */
export interface CustomHostnameColumns {
  readonly zone_id: string;
  readonly hostname: string;
  readonly wildcard: number;
  readonly status: string;
  readonly ownership_token: string;
  readonly custom_metadata: string | null;
  readonly custom_origin_server: string | null;
  readonly custom_origin_sni: string | null;
  readonly ssl: string | null;
}

/** Null if planes do not need it. */
export const customHostnameEntry = (row: CustomHostnameColumns): CustomHostnameEntry | null =>
  row.status !== "active" && row.status !== "pending"
    ? null
    : {
        zone_id: row.zone_id,
        hostname: row.hostname,
        wildcard: row.wildcard === 1,
        active: row.status === "active",
        token: row.ownership_token,
        ...(row.custom_origin_server === null ? {} : { origin: row.custom_origin_server }),
        ...(row.custom_origin_sni === null ? {} : { sni: row.custom_origin_sni }),
        ...(row.custom_metadata === null ? {} : { metadata: JSON.parse(row.custom_metadata) as Record<string, string> }),
        ...handshakesOf(row.ssl),
      };

function handshakesOf(text: string | null): Pick<CustomHostnameEntry, "tls"> {
  const settings = text === null ? {} : (JSON.parse(text) as { readonly settings?: SslSettings }).settings;
  const { min_tls_version, tls_1_3, http2 } = settings ?? {};
  const tls = {
    ...(min_tls_version === undefined ? {} : { min_tls_version }),
    ...(tls_1_3 === undefined ? {} : { tls_1_3: tls_1_3 === "on" }),
    ...(http2 === undefined ? {} : { http2: http2 === "on" }),
  };
  return Object.keys(tls).length === 0 ? {} : { tls };
}
