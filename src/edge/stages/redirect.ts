import { STATUS_CODES } from "#kernel/net/node-http.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { editResponse, setField } from "#edge/http/header-edits.ts";
import { byteText, visibleBytes } from "#edge/http/latin1.ts";

/** Parameters as validated by the rule engine; a computed target may be missing. */
interface RedirectParameters {
  readonly from_list?: { readonly name: string; readonly key?: unknown };
  readonly from_value?: {
    readonly target_url: { readonly value?: unknown; readonly expression?: string };
    readonly status_code?: number;
    readonly preserve_query_string?: boolean;
  };
}

const STATUS_DEFAULT = 302;

/** The redirect of a rule; null if its target could not be computed, and the request goes on. */
export function redirectPage(exchange: Exchange, { action_parameters: parameters, rule }: Match): Page | null {
  const { from_value: to, from_list: list } = parameters as RedirectParameters;
  if (list !== undefined) {
    const found = typeof list.key === "string" ? exchange.zone?.redirects(list.name)?.redirect(list.key) : undefined;
    return found === undefined ? null : redirectTo(exchange, Buffer.from(found.location).toString("latin1"), found.status);
  }
  const written = (rule.action_parameters as RedirectParameters).from_value?.target_url.value;
  const target = to === undefined ? undefined : byteText(to.target_url.value, written);
  if (to === undefined || target === undefined || !/^(?:https?:\/\/|\/)/i.test(target)) return null;
  const query = to.preserve_query_string === true && exchange.query !== "" && !target.includes("?") ? `?${exchange.query}` : "";
  return redirectTo(exchange, target + query, to.status_code ?? STATUS_DEFAULT);
}

function redirectTo(exchange: Exchange, target: string, status: number): Page {
  setField(editResponse(exchange), "Location", visibleBytes(target));
  return { status, reason: STATUS_CODES[status] ?? "Redirect", contentType: "text/plain", body: "" };
}
