import { runPhase } from "#rules/engine/engine.ts";
import { phaseNumber } from "#rules/phases.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { editedView, pageView } from "#edge/exchange/response-view.ts";
import { countResponse } from "./count-response.ts";
import { customError } from "./custom-error.ts";
import { logFields } from "./log-fields.ts";
import { scanPage } from "./scan.ts";
import { rewriteResponseHeaders } from "./rewrite.ts";

const TRANSFORMS = phaseNumber("http_response_headers_transform");
const LOGS = phaseNumber("http_log_custom_fields");

/** Finishes a page of the edge: the zone's rules may replace an error's page, change its head and log it. */
export function finishPage(exchange: Exchange, page: Page): Page {
  const { zone } = exchange;
  if (zone === null || exchange.isForMany) return page;
  if (exchange.later.length > 0) countResponse(exchange, pageView(exchange, page), false);
  const shown = page.isChosen === true ? page : (customError(exchange, pageView(exchange, page)) ?? page);
  const transforms = zone.rulesets(TRANSFORMS);
  if (transforms.length > 0) {
    for (const match of runPhase(transforms, exchange, exchange, pageView(exchange, shown)))
      if (match.action === "rewrite") rewriteResponseHeaders(exchange, match);
  }
  if (shown !== page || shown.isChosen === true) scanPage(exchange, shown);
  const logs = zone.rulesets(LOGS);
  if (logs.length > 0) {
    const view = editedView(exchange, pageView(exchange, shown));
    for (const match of runPhase(logs, exchange, exchange, view)) if (match.action === "log_custom_field") logFields(exchange, match, view);
  }
  return shown;
}
