import { runPhase } from "#rules/engine/engine.ts";
import { rememberLast, rememberLastOfTwo } from "#rules/text/memo.ts";
import { phaseNumber } from "#rules/phases.ts";
import type { CompiledRuleset, Match } from "#rules/engine/compiled-rule.ts";
import { unconditionalMatches } from "#rules/engine/unconditional.ts";
import type { ManagedExecution } from "#rules/managed/managed-ruleset.ts";
import type { ZoneEntry } from "#snapshot/entries.ts";
import { cutOf } from "../detection/body-cut.ts";
import type { ScanScope } from "../detection/scan-plan.ts";
import type { BodyCopy, BodyTee } from "../detection/body-tee.ts";
import { EDGE_ERRORS } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { editedView, type OwnView, pageView } from "#edge/exchange/response-view.ts";

/** As validated by the rule engine. */
interface MatchedData {
  readonly public_key?: string;
  readonly masked_sample?: boolean;
}

const PARTIAL_CONTENT = 206;
const NO_MATCHED_DATA: MatchedData = {};
const SCANS = phaseNumber("http_response_firewall_managed");

/**
 * Runs the detector's rules on a response as received, unless `matches` already has their result. Returns the tee for its body; null if no rule matches or the body
 * cannot be scanned.
 */
export function scan(
  tap: Pick<BodyTee, "takes" | "begin">,
  rulesets: readonly CompiledRuleset[],
  exchange: Exchange,
  original: OwnView,
  matches: readonly Match[] | null = null,
): BodyCopy | null {
  const view = editedView(exchange, original);
  let body: BodyCopy | null = null;
  for (const match of matches ?? matchesOf(rulesets, exchange, view)) {
    const one = tapOf(tap, exchange, match, view);
    if (one !== null) body = body === null ? one : bothOf(body, one);
  }
  return body;
}

const alwaysOf = rememberLast(unconditionalMatches);

/** Most zones have one rule here, for all responses. */
const matchesOf = (rulesets: readonly CompiledRuleset[], exchange: Exchange, view: OwnView): readonly Match[] =>
  (exchange.skips === null ? alwaysOf(rulesets) : null) ?? runPhase(rulesets, exchange, exchange, view);

function tapOf(tap: Pick<BodyTee, "takes" | "begin">, exchange: Exchange, match: Match, response: OwnView): BodyCopy | null {
  const { zone } = exchange;
  const { content_type } = response;
  if (zone === null || !tap.takes(content_type)) return null;
  const scope = scopeOf(match, zone.entry);
  if (scope === null) return null;
  const { status, charset } = response;
  const original = response.raw ?? response;
  const { content_encoding } = original;
  const cut = status === PARTIAL_CONTENT ? cutOf(content_type, original.headers("content-range")[0] ?? "") : "none";
  return tap.begin(scope, exchange, { status, content_type, charset, content_encoding, cut });
}

const bothOf = (first: BodyCopy, second: BodyCopy): BodyCopy => ({
  chunk: (bytes, start, end) => {
    first.chunk(bytes, start, end);
    second.chunk(bytes, start, end);
  },
  last: (bytes, start, end) => {
    first.last(bytes, start, end);
    second.last(bytes, start, end);
  },
  end: () => {
    first.end();
    second.end();
  },
  abort: () => {
    first.abort();
    second.abort();
  },
});

/** Keyed by the rule's execution, which belongs to one rule, and by zone, since many zones share a rule of an account. */
const scopes = new WeakMap<ManagedExecution, WeakMap<ZoneEntry, ScanScope>>();

const scopeOf = rememberLastOfTwo((match: Match, zone: ZoneEntry): ScanScope | null => {
  const { managed } = match;
  if (managed === null) return null;
  let ofZones = scopes.get(managed);
  if (ofZones === undefined) scopes.set(managed, (ofZones = new WeakMap()));
  let scope = ofZones.get(zone);
  if (scope === undefined) {
    const matchedData = (match.action_parameters["matched_data"] as MatchedData | undefined) ?? NO_MATCHED_DATA;
    scope = {
      account_id: zone.account_id,
      zone_id: zone.id,
      ruleset_id: managed.ruleset_id,
      enabled: managed.enabled,
      own: managed.own,
      public_key: matchedData.public_key ?? "",
      masked_sample: matchedData.masked_sample ?? false,
      deployed_by: match.rule.id,
    };
    ofZones.set(zone, scope);
  }
  return scope;
});

/**
 * Scans a page that the zone's own rules wrote. The edge's own pages are the same for everybody, so they contain nothing
 * to find.
 */
export function scanPage(exchange: Exchange, page: Page): void {
  const { zone, tap } = exchange;
  if (zone === null || tap === null || page.body === "" || page.error === EDGE_ERRORS.challenged || exchange.method === "HEAD") return;
  const rulesets = zone.rulesets(SCANS);
  if (rulesets.length === 0) return;
  const body = scan(tap, rulesets, exchange, pageView(exchange, page));
  if (body === null) return;
  const bytes = Buffer.from(page.body);
  body.last(bytes, 0, bytes.length);
}
