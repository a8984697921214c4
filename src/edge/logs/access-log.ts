import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { EventRule, RequestEvent, RequestRow, RequestSink } from "#events/rows/rows.ts";
import { PACKAGE_RULESETS } from "#rules/previous-waf/packages.ts";
import { rememberLastOfTwo } from "#rules/text/memo.ts";
import { PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import type { Exhausted } from "#rules/budget.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import { RULES_SERVICE } from "#rules/services.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { createMatchedDataEncryptor, eventMatches } from "./matched-data.ts";
import { withoutPasswords, withoutSecrets } from "#edge/http/secret-parameters.ts";

const NO_MATCHES: RequestEvent["matches"] = [];

interface RecorderDeps {
  readonly events: RequestSink;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}

/** Writes the rows of a finished request: one for itself, and one for each rule that logged or blocked. */
export function createAccessLog({ events, clock, metrics }: RecorderDeps): (exchange: Exchange) => void {
  const requests = metrics.counter("selvedge_edge_requests_total", "Requests answered by the edge");
  const bytesOut = metrics.counter("selvedge_edge_response_bytes_total", "Bytes of responses sent to visitors, including headers");
  const exhausted = metrics.counter("selvedge_edge_rules_exhausted_total", "Requests whose rules exceeded the step limit of one request");
  const sealing = createMatchedDataEncryptor(clock);
  const ruleOf = rememberLastOfTwo(eventRule);
  return (exchange) => {
    requests.value++;
    bytesOut.value += exchange.bytesOut;
    const zone = exchange.zone?.entry;
    const row: RequestRow = {
      ray_id: exchange.ray_id,
      at_ms: exchange.at_ms,
      account_id: zone?.account_id ?? "",
      zone_id: zone?.id ?? "",
      client_ip: exchange.client_ip,
      method: exchange.method,
      scheme: exchange.scheme,
      host: exchange.host,
      path: withoutPasswords(exchange.origin_path),
      query: withoutSecrets(exchange.query),
      user_agent: exchange.user_agent,
      status: exchange.status,
      origin_status: exchange.originStatus,
      bytes_in: exchange.bytesIn,
      bytes_out: exchange.bytesOut,
      duration_ms: Math.round((clock.monotonicMs() - exchange.startedMs) * 1000) / 1000,
      custom_fields: exchange.loggedFields,
      http_version: exchange.http_version,
      tls_version: exchange.tls?.version ?? "",
      content_type: exchange.contentType,
      cache_status: exchange.cacheStatus ?? "",
      edge_error: exchange.edgeError,
      edge_error_name: exchange.edgeErrorName,
      country: exchange.place?.country ?? "",
    };
    const logged = exchange.logged.map(({ phase, match }): RequestEvent => ({
      rule: ruleOf(phase, match),
      matches: match.found.length === 0 ? NO_MATCHES : eventMatches(match, sealing),
    }));
    if (exchange.exhausted !== null) {
      exhausted.value++;
      logged.push({ rule: exhaustedRule(exchange.exhausted), matches: NO_MATCHES });
    }
    events.pushRequest(row, logged);
  };
}

/** SPEC 6: if two WAFs run, the activity log distinguishes them. */
function serviceOf({ ruleset_id, rule }: Pick<Match, "ruleset_id"> & Partial<Pick<Match, "rule">>): string {
  if (rule?.event_service !== undefined) return rule.event_service;
  for (const slot of Object.values(PREVIOUS_SLOTS)) if (slot.ruleset_id === ruleset_id) return slot.service;
  return PACKAGE_RULESETS.has(ruleset_id) ? PREVIOUS_SLOTS.previous_waf.service : RULES_SERVICE;
}

const eventRule = (phase: string, match: Match): EventRule => ({
  ruleset_id: match.ruleset_id,
  rule_id: match.rule.id,
  deployed_by: match.deployed_by,
  rule_description: match.rule.description,
  phase,
  action: match.rule.event_action ?? match.action,
  service: serviceOf(match),
});

const TOO_MANY = "The rules of this request take too many steps";
const TOLD = { ended: `${TOO_MANY}: it was rejected`, passed: `${TOO_MANY}: its response was sent unchanged` };

function exhaustedRule({ rule_description: description, ended, ...rule }: Exhausted): EventRule {
  const told = ended ? TOLD.ended : TOLD.passed;
  return {
    ...rule,
    rule_description: description === "" ? told : `${told} (${description})`,
    action: ended ? "block" : "log",
    service: serviceOf(rule),
  };
}
