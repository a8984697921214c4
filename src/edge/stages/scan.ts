import { runPhase } from "#rules/engine.ts";
import { phaseNumber } from "#rules/phases.ts";
import type { Match } from "#rules/types.ts";
import type { BodyTap, Tap } from "../detection/tap.ts";
import { EDGE_ERRORS } from "../edge-errors.ts";
import type { Page } from "../error-page.ts";
import type { Exchange } from "../exchange.ts";
import { editedView, type OwnView, pageView } from "../response-view.ts";

/** As the rules' own validator lets it through. */
interface MatchedData {
  readonly public_key?: string;
  readonly masked_sample?: boolean;
}

const NO_MATCHED_DATA: MatchedData = {};
const SCANS = phaseNumber("http_response_firewall_managed");

/** Where the body of a response goes that a rule wants looked through; null where it is not one that can be. */
export function tapOf(tap: Pick<Tap, "takes" | "begin">, exchange: Exchange, match: Match, response: OwnView): BodyTap | null {
  const { zone } = exchange;
  if (match.managed === null || zone === null || !tap.takes(response.content_type)) return null;
  const matchedData = (match.action_parameters["matched_data"] as MatchedData | undefined) ?? NO_MATCHED_DATA;
  return tap.begin({
    ray_id: exchange.ray_id,
    at_ms: exchange.at_ms,
    account_id: zone.entry.account_id,
    zone_id: zone.entry.id,
    client_ip: exchange.client_ip,
    method: exchange.method,
    scheme: exchange.scheme,
    host: exchange.host,
    path: exchange.path,
    query: exchange.query,
    user_agent: exchange.user_agent,
    status: response.status,
    content_type: response.content_type,
    charset: response.charset,
    content_encoding: (response.raw ?? response).content_encoding,
    ruleset_id: match.managed.ruleset_id,
    enabled: match.managed.enabled,
    own: match.managed.own,
    public_key: matchedData.public_key ?? "",
    masked_sample: matchedData.masked_sample ?? false,
    deployed_by: match.rule.id,
  });
}

/** A page that the site's own rules wrote. What the edge itself writes is the same for everybody and holds nothing to find. */
export function scanPage(exchange: Exchange, page: Page): void {
  const { zone, tap } = exchange;
  if (zone === null || tap === null || page.body === "" || page.error === EDGE_ERRORS.challenged || exchange.method === "HEAD") return;
  const rulesets = zone.rulesets(SCANS);
  if (rulesets.length === 0) return;
  const view = editedView(exchange, pageView(exchange, page));
  for (const match of runPhase(rulesets, exchange, exchange, view)) {
    const body = tapOf(tap, exchange, match, view);
    if (body === null) continue;
    const bytes = Buffer.from(page.body);
    body.chunk(bytes, 0, bytes.length);
    body.end();
  }
}
