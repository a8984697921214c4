import type { Match } from "#rules/engine/compiled-rule.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { changeField, editResponse } from "#edge/http/header-edits.ts";
import { byteText, visibleBytes } from "#edge/http/latin1.ts";

/** As validated by the rule engine. A computed value may be missing, and then nothing changes. */
interface Value {
  readonly value?: unknown;
  readonly expression?: string;
}

interface RewriteParameters {
  readonly uri?: { readonly path?: Value; readonly query?: Value };
}

/** Changes path or query of the request; the host stays. */
export function rewriteUri(exchange: Exchange, match: Match): void {
  const { uri } = match.action_parameters as RewriteParameters;
  const written = (match.rule.action_parameters as RewriteParameters).uri;
  const path = byteText(uri?.path?.value, written?.path?.value);
  const query = byteText(uri?.query?.value, written?.query?.value);
  // `?` and `#` in a new path are part of it, as is `#` in a new query.
  const newPath = path?.startsWith("/") === true ? visibleBytes(path).replaceAll("?", "%3F").replaceAll("#", "%23") : undefined;
  const newQuery = query === undefined ? undefined : visibleBytes(query).replaceAll("#", "%23");
  exchange.rewriteUri(newPath, newQuery);
}

/** Changes the request for later phases and for the origin. */
export function rewriteRequestHeaders(exchange: Exchange, match: Match): void {
  exchange.editRequest(match.changes);
}

export function rewriteResponseHeaders(exchange: Exchange, match: Match): void {
  const edits = editResponse(exchange);
  for (const change of match.changes) changeField(edits, change);
}
