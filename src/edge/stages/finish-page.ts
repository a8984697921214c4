import { runPhase } from "#rules/engine.ts";
import type { ResponseView } from "#rules/views.ts";
import type { Page } from "../error-page.ts";
import type { Exchange } from "../exchange.ts";
import { countLater } from "./count-later.ts";
import { customError } from "./custom-error.ts";
import { rewriteResponseHeaders } from "./rewrite.ts";

/** A page of the edge's own on its way out: the site's rules may have another page for an error, and change its head. */
export function finishPage(exchange: Exchange, page: Page): Page {
  if (exchange.zone === null || exchange.isForMany) return page;
  if (exchange.later.length > 0) countLater(exchange, viewOf(page), false);
  const shown = page.isChosen === true ? page : (customError(exchange, viewOf(page)) ?? page);
  const rulesets = exchange.zone.rulesets("http_response_headers_transform");
  if (rulesets.length === 0) return shown;
  for (const match of runPhase(rulesets, exchange, exchange, viewOf(shown)))
    if (match.action === "rewrite") rewriteResponseHeaders(exchange, match);
  return shown;
}

const viewOf = (page: Page): ResponseView => ({
  status: page.status,
  content_type: page.contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "",
  headers: (name) => (name === "content-type" ? [page.contentType] : []),
});
