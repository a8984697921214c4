import { STATUS_CODES } from "#kernel/net/node-http.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { phaseNumber } from "#rules/phases.ts";
import type { ResponseView } from "#rules/views.ts";
import type { EdgeError } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

const ERRORS = phaseNumber("http_custom_errors");
/** Statuses from here on are errors (RFC 9110 §15). */
const ERROR_STATUS_MIN = 400;

interface ServeErrorParameters {
  readonly content?: string;
  readonly content_type?: string;
  readonly status_code?: number;
}

/** The page that the zone's rules have for this error, of the origin or of the edge; null if no rule replaces it. */
export function customError(exchange: Exchange, response: ResponseView & { readonly error?: EdgeError | undefined }): Page | null {
  if (response.status < ERROR_STATUS_MIN) return null;
  const rulesets = exchange.zone?.rulesets(ERRORS) ?? [];
  if (rulesets.length === 0) return null;
  for (const match of runPhase(rulesets, exchange, exchange, response)) {
    const {
      content,
      content_type: contentType = "text/html",
      status_code: status = response.status,
    } = match.action_parameters as ServeErrorParameters;
    if (match.action !== "serve_error" || content === undefined) continue;
    return {
      status,
      reason: STATUS_CODES[status] ?? "Error",
      contentType: contentType === "text/html" ? "text/html; charset=utf-8" : contentType,
      body: content,
      ...(response.error === undefined ? {} : { error: response.error }),
    };
  }
  return null;
}
