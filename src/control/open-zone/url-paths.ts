import { EDITABLE_SETTINGS } from "#model/zones/zone-settings.ts";
import { normalizedPath, type UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import type { RequestView } from "#rules/views.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { chosenIn } from "./setting-views.ts";

/** The zone's setting; without a zone, the default. */
export const urlNormalizationOf = (row: Pick<ZoneRow, "edge_settings"> | undefined): UrlNormalization =>
  (row === undefined ? undefined : chosenIn(row).url_normalization?.value) ?? EDITABLE_SETTINGS.url_normalization.default;

/** Path and query of a request as the edge shows them to rules. */
export function viewedUrl(
  path: string,
  query: string,
  { scope, type }: UrlNormalization,
): Pick<RequestView, "path" | "query" | "received_path" | "received_query" | "origin_path"> {
  const normal = scope === "none" ? path : normalizedPath(path, type);
  return { path: normal, query, received_path: path, received_query: query, origin_path: scope === "both" ? normal : path };
}
