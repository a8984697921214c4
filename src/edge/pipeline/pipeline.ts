import type { RequestBuffers } from "#edge/exchange/request-buffer.ts";
import type { ResponseStages } from "#edge/exchange/response-stages.ts";
import { NO_BODY } from "#wire/http/framing.ts";
import { begins, REQUEST, RULES } from "#kernel/process/heartbeat.ts";
import { type PhaseName, type PhaseNumber, phaseNumber } from "#rules/phases.ts";
import { SETTABLE } from "#rules/actions/requests.ts";
import { CHALLENGES, runPhase, wantsResponseBody } from "#rules/engine/engine.ts";
import type { CompiledRuleset, Match } from "#rules/engine/compiled-rule.ts";
import type { ResponseView } from "#rules/views.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { CacheRule } from "#edge/exchange/cache-decision.ts";
import { chooseCoding } from "#edge/compression/choose-coding.ts";
import type { Algorithm } from "#edge/exchange/decisions.ts";
import type { Codecs } from "#edge/compression/codecs.ts";
import type { Clearance } from "#edge/challenge/clearance.ts";
import type { DohRoute } from "#edge/origin/doh-route.ts";
import { DeferredTee } from "#edge/detection/deferred-tee.ts";
import type { BodyTee } from "#edge/detection/body-tee.ts";
import { EDGE_ERRORS, type EdgeErrorName } from "#edge/pages/edge-errors.ts";
import { blockPage, errorPage, type Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { contentTypeOf, editedView, heldView, type OwnView, responseView } from "#edge/exchange/response-view.ts";
import { HeldResponse, isHeldType } from "#edge/exchange/held-response.ts";
import { applyZoneSettings, type EdgePorts } from "#edge/stages/zone-settings.ts";
import { chooseMinified } from "#edge/minify/choose-minified.ts";
import type { Minifier } from "#edge/minify/minifier.ts";
import { chooseExcluded, chooseExclusion } from "#edge/exclusion/exclusion.ts";
import type { PageShield } from "#edge/page-shield/page-shield.ts";
import type { GatewayRoute } from "#edge/origin/gateway-route.ts";
import type { ImageRoute } from "#edge/origin/image-route.ts";
import { mediaType } from "#edge/http/media-type.ts";
import { editResponse, setField } from "#edge/http/header-edits.ts";
import type { AcmeChallenges } from "#edge/stages/acme-challenge.ts";
import type { Challenges } from "#edge/stages/challenge.ts";
import { judgeResponse } from "#edge/stages/judge-response.ts";
import { customError } from "#edge/stages/custom-error.ts";
import { countResponse, isFromOrigin } from "#edge/stages/count-response.ts";
import { finishPage } from "#edge/stages/finish-page.ts";
import { scan } from "#edge/stages/scan.ts";
import { hostnameToken } from "#edge/stages/hostname-token.ts";
import { logFields } from "#edge/stages/log-fields.ts";
import { redirectPage } from "#edge/stages/redirect.ts";
import { rewriteRequestHeaders, rewriteResponseHeaders, rewriteUri } from "#edge/stages/rewrite.ts";
import type { Geoip } from "#edge/geoip.ts";
import type { Zones } from "#edge/zones/zones.ts";

const CUSTOM_ERRORS = phaseNumber("http_custom_errors");
/** The detector writes these events after the response (SPEC 8). */
const SCANS = phaseNumber("http_response_firewall_managed");
const LOGS = phaseNumber("http_log_custom_fields");
const NO_RULESETS: readonly CompiledRuleset[] = [];

export const NEEDS_BODY = "needs_body";

/**
 * The stages of a request, in this order, unless the installation itself answers it. Origin selection, forwarding and
 * the request row follow.
 */
export interface Pipeline extends ResponseStages {
  /**
   * Runs the request stages, starting at `exchange.stage`. A page answers the request; null forwards it to its origin.
   * After `NEEDS_BODY`, call again when `exchange.body` is set: a rule of the next stage reads it.
   */
  request(exchange: Exchange): Page | typeof NEEDS_BODY | null;
  /** Whether response rules may read the request body. */
  readsBodyLater(exchange: Exchange): boolean;
}

export interface PipelineDeps {
  readonly zones: Zones;
  readonly tap: Pick<BodyTee, "takes" | "begin">;
  readonly doh: DohRoute;
  readonly gateways: GatewayRoute;
  readonly images: Pick<ImageRoute, "originOf">;
  /** Name in CDN-Loop, with which the edge detects loops (RFC 8586). */
  readonly loopName: string;
  /** Available once the edge listens. */
  ports(): EdgePorts;
  readonly clearance: Clearance;
  readonly places: Pick<Geoip, "of">;
  readonly challenges: Challenges;
  readonly acmeChallenges: AcmeChallenges;
  readonly pageShield: PageShield;
  readonly codecs: Pick<Codecs, "hasRoom">;
  readonly minifier: Pick<Minifier, "of">;
  /** Memory for responses that wait for rules. */
  readonly memoryOf: RequestBuffers["share"];
  /** Receives exceptions that occur after the response was sent. */
  report(error: unknown): void;
}

interface Stage {
  readonly name: string;
  readonly run: (exchange: Exchange, deps: PipelineDeps) => Page | typeof NEEDS_BODY | null;
}

/** Stages in the order in which they run; phases keep the order of waf.md. */
const REQUEST_STAGES: readonly Stage[] = [
  // Host and target are already validated.
  { name: "doh", run: passQuestion },
  { name: "acme", run: (exchange, { acmeChallenges }) => acmeChallenges.answer(exchange) },
  { name: "gateway", run: passToGateway },
  { name: "zone", run: findZone },
  { name: "loop", run: refuseLoop },
  { name: "settings", run: (exchange, { ports }) => applyZoneSettings(exchange, ports()) },
  { name: "challenge", run: (exchange, { challenges }) => challenges.redeem(exchange) },
  { name: "page_shield", run: takePageReport },
  // http_request_sanitize would run here.
  phase("http_request_dynamic_redirect", redirectPage),
  phase("http_request_transform", changing("rewrite", rewriteUri)),
  phase("http_config_settings", changing("set_config", configure)),
  phase("http_request_origin", changing("route", applyRoute)),
  // ddos_l7 would run here.
  phase("http_request_firewall_custom", mitigate),
  phase("http_ratelimit", limitRate),
  phase("http_request_firewall_managed", mitigate),
  // http_request_sbfm would run here.
  phase("http_request_redirect", redirectPage),
  phase("http_request_late_transform", changing("rewrite", rewriteRequestHeaders)),
  phase("http_request_cache_settings", changing("set_cache_settings", ruleCache)),
  { name: "exclusion", run: chooseExclusion },
  { name: "body", run: (exchange) => (exchange.body === undefined && readsBodyLater(exchange) ? NEEDS_BODY : null) },
  { name: "images", run: passToImages },
];

interface ResponseStage {
  readonly phase: PhaseNumber;
  readonly run: (exchange: Exchange, match: Match, subject: OwnView) => void;
}

/** Also run for responses from the cache. */
const RESPONSE_STAGES: readonly ResponseStage[] = [
  // http_response_cache_settings would run here. Custom error pages have been applied before.
  { phase: phaseNumber("http_response_headers_transform"), run: rewriteHead },
  { phase: phaseNumber("http_response_compression"), run: ruleCompression },
];

/** These read the head as it is sent and the body as the origin sent it. `SCANS` runs before them. */
const LAST_STAGES: readonly ResponseStage[] = [{ phase: LOGS, run: logRow }];

export function createPipeline(deps: PipelineDeps): Pipeline {
  return {
    request: (exchange) => {
      begins(REQUEST, exchange.host);
      for (; exchange.stage < REQUEST_STAGES.length; exchange.stage++) {
        const page = REQUEST_STAGES[exchange.stage]!.run(exchange, deps);
        if (page !== null) return page === NEEDS_BODY ? page : finishPage(exchange, page);
        if (exchange.ownOrigin !== null) return null;
      }
      return null;
    },
    readsBodyLater,
    substitute: (exchange, buffer, head, framing) => {
      if (exchange.later.length > 0) countResponse(exchange, responseView(exchange, buffer, head), isFromOrigin(exchange));
      const judging = exchange.zone?.rulesets(SCANS) ?? NO_RULESETS;
      if (judging.some(({ judges }) => judges)) {
        const view = responseView(exchange, buffer, head);
        if (framing !== NO_BODY && isHeldType(view.content_type) && wantsResponseBody(judging, exchange, exchange, view))
          return new HeldResponse(buffer, head, framing, deps.memoryOf(exchange));
        const refused = judgeResponse(judging, exchange, view);
        if (refused !== null) return finishPage(exchange, refused);
      }
      return errorInstead(exchange, buffer, head);
    },
    substituteHeld: (exchange, held) => {
      const refused = judgeResponse(exchange.zone?.rulesets(SCANS) ?? NO_RULESETS, exchange, heldView(exchange, held));
      return refused === null ? errorInstead(exchange, held.buffer, held.head) : finishPage(exchange, refused);
    },
    response: (exchange, buffer, head, framing) => {
      exchange.contentType = mediaType(contentTypeOf(buffer, head));
      const changed = judge(RESPONSE_STAGES, exchange, buffer, head, null);
      if (exchange.settings.page_shield !== null)
        deps.pageShield.watch(exchange, () => (changed ?? responseView(exchange, buffer, head)).headers("set-cookie"));
      chooseExcluded(exchange, buffer, head);
      chooseMinified(exchange, buffer, head, deps.minifier);
      chooseCoding(exchange, buffer, head, framing, exchange.algorithms, deps.codecs);
      const scans = framing === NO_BODY ? NO_RULESETS : (exchange.zone?.rulesets(SCANS) ?? NO_RULESETS);
      const original = scans.length === 0 ? changed : (changed ?? responseView(exchange, buffer, head));
      const tap = original === null || scans.length === 0 ? null : scanLater(deps, scans, exchange, original);
      judge(LAST_STAGES, exchange, buffer, head, original);
      return tap;
    },
  };
}

/** The zone's own page for an error of the origin; null without one. */
function errorInstead(exchange: Exchange, buffer: Buffer, head: Head): Page | null {
  const rulesets = exchange.zone?.rulesets(CUSTOM_ERRORS) ?? NO_RULESETS;
  if (rulesets.length === 0 || passesErrors(exchange, head.status)) return null;
  const page = customError(exchange, responseView(exchange, buffer, head));
  return page === null ? null : finishPage(exchange, { ...page, isChosen: true });
}

/** Runs response stages. `before` is the response as received; null if no earlier rule read it. */
function judge(stages: readonly ResponseStage[], exchange: Exchange, buffer: Buffer, head: Head, before: OwnView | null): OwnView | null {
  let original = before;
  for (const { phase, run } of stages) {
    const rulesets = exchange.zone?.rulesets(phase) ?? NO_RULESETS;
    if (rulesets.length === 0) continue;
    original ??= responseView(exchange, buffer, head);
    // The response that rules see stays the same within a phase and changes between phases.
    const subject = editedView(exchange, original);
    for (const match of runPhase(rulesets, exchange, exchange, subject)) run(exchange, match, subject);
  }
  return original;
}

/**
 * Runs the rules of `SCANS`, which do not change the response, after the response was sent. Runs them at once if they
 * may skip later rules or read the request body, which is released with the response.
 */
function scanLater({ tap, report }: PipelineDeps, scans: readonly CompiledRuleset[], exchange: Exchange, original: OwnView): DeferredTee {
  const begin = () => scan(tap, scans, exchange, original, exchange.judged);
  const { zone } = exchange;
  if ((zone?.rulesets(LOGS) ?? NO_RULESETS).length === 0 && zone?.readsBody(SCANS) !== true) return new DeferredTee({ begin, report });
  const body = begin();
  return new DeferredTee({ begin: () => body, report });
}

/** Phases of rate limits, whose expressions may read the response when it is counted. */
const BODY_LATER: readonly PhaseNumber[] = [
  phaseNumber("http_ratelimit"),
  CUSTOM_ERRORS,
  ...RESPONSE_STAGES.map(({ phase }) => phase),
  ...[SCANS, LOGS],
];

const readsBodyLater = ({ zone }: Exchange): boolean => zone !== null && BODY_LATER.some((phase) => zone.readsBody(phase));

/** A cache rule may pass the origin's own error pages. */
const passesErrors = ({ cacheRule: rule }: Exchange, status: number): boolean => status >= 500 && rule?.origin_error_page_passthru === true;

/** A stage that runs the rules of a phase and applies `act` to each match. */
function phase(name: PhaseName, act: (exchange: Exchange, match: Match, deps: PipelineDeps) => Page | null): Stage {
  const number = phaseNumber(name);
  return {
    name,
    run: (exchange, deps) => {
      const rulesets = exchange.zone?.rulesets(number) ?? NO_RULESETS;
      if (rulesets.length === 0) return null;
      if (exchange.body === undefined && exchange.zone?.readsBody(number) === true) return NEEDS_BODY;
      begins(RULES, rulesets[0]!.id);
      for (const match of runPhase(rulesets, exchange, exchange, null)) {
        const page = act(exchange, match, deps);
        if (match.logs) exchange.logged.push({ phase: name, match });
        if (page !== null) return page;
      }
      return exchange.exhausted === null ? null : plainPage(exchange, "rules_exhausted");
    },
  };
}

/** Passes DNS over HTTPS queries to the nameserver, for the nameservers' own names, even if no zone here has them. */
function passQuestion(exchange: Exchange, { doh }: PipelineDeps): null {
  exchange.ownOrigin = doh.originOf(exchange);
  return null;
}

/** A model may take minutes before it sends the first byte. */
const GATEWAY_READ_TIMEOUT_SECONDS = 600;

/** Passes requests for gateway names to the gateway. Rules of a site do not apply to requests for models. */
function passToGateway(exchange: Exchange, { gateways }: PipelineDeps): Page | null {
  const origin = gateways.originOf(exchange);
  if (origin === "refused") return plainPage(exchange, "misdirected");
  exchange.ownOrigin = origin;
  if (origin !== null) exchange.cacheRule = { read_timeout: GATEWAY_READ_TIMEOUT_SECONDS };
  return null;
}

/** Answers browsers that report what pages load. No rule of the zone sees the reports, which the pages asked for. */
function takePageReport(exchange: Exchange, { pageShield }: PipelineDeps): Page | typeof NEEDS_BODY | null {
  if (!pageShield.isReport(exchange)) return null;
  return exchange.body === undefined ? NEEDS_BODY : pageShield.take(exchange);
}

/** Passes requests for images to control, after all rules of the zone. A signature counts for its URL only, so such responses are not shared. */
function passToImages(exchange: Exchange, { images }: PipelineDeps): null {
  exchange.ownOrigin = images.originOf(exchange);
  if (exchange.ownOrigin !== null) exchange.cacheRule = { cache: !/(?:^|&)sig=/.test(exchange.query) };
  return null;
}

/** Looks up the zone. The edge does not serve a paused zone: its DNS records point to the origin. */
function findZone(exchange: Exchange, { zones, clearance, places, tap }: PipelineDeps): Page | null {
  const token = hostnameToken(exchange, zones);
  if (token !== null) return token;
  const serving = zones.serving(exchange.host);
  if (serving === null) return plainPage(exchange, zones.customHostnames.isPending(exchange.host) ? "hostname_pending" : "unroutable");
  if (serving.zone.entry.paused) return plainPage(exchange, "unroutable");
  const { zone, hostname } = serving;
  exchange.zone = zone;
  exchange.customHostname = hostname;
  exchange.clearance = clearance;
  exchange.places = places;
  exchange.tap = tap;
  exchange.settings = zone.settings;
  exchange.normalizePath(zone.settings.url_normalization);
  exchange.zone_name = zone.entry.name;
  return null;
}

function refuseLoop(exchange: Exchange, { loopName }: PipelineDeps): Page | null {
  if (!exchange.hasLoop) return null;
  for (const value of exchange.headers("cdn-loop")) {
    for (const name of value.split(",")) if (name.split(";", 1)[0]?.trim().toLowerCase() === loopName) return plainPage(exchange, "loop");
  }
  return null;
}

/** For actions that change the exchange and never answer. */
function changing(action: string, change: (exchange: Exchange, match: Match) => void): (exchange: Exchange, match: Match) => null {
  return (exchange, match) => {
    if (match.action === action) change(exchange, match);
    return null;
  };
}

/** Applies a rule's settings to this request only; their shapes are those of the zone's settings. */
function configure(exchange: Exchange, { action_parameters: parameters }: Match): void {
  const chosen = SETTABLE.filter((name) => parameters[name] !== undefined).map((name) => [name, parameters[name]]);
  // few: settings that a zone has
  if (chosen.length > 0) exchange.settings = { ...exchange.settings, ...(Object.fromEntries(chosen) as Partial<EdgeSettings>) };
}

/** If several rules set a parameter, the last one wins. */
function applyRoute(exchange: Exchange, { action_parameters: parameters }: Match): void {
  const { origin, host_header: hostHeader, sni } = parameters as RouteParameters;
  if (origin?.host !== undefined) exchange.originHost = origin.host;
  if (origin?.port !== undefined) exchange.originPort = origin.port;
  if (hostHeader !== undefined) exchange.hostHeader = hostHeader;
  if (sni !== undefined) exchange.serverName = sni.value;
}

/** If several rules set a parameter, the last one wins. */
function ruleCache(exchange: Exchange, { action_parameters: parameters }: Match): void {
  // few: parameters that a cache rule has
  exchange.cacheRule = { ...exchange.cacheRule, ...(parameters as CacheRule) };
}

/** Parameters as validated by the rule engine. */
interface RouteParameters {
  readonly origin?: { readonly host?: string; readonly port?: number };
  readonly host_header?: string;
  readonly sni?: { readonly value: string };
}

function mitigate(exchange: Exchange, match: Match, { challenges }: PipelineDeps): Page | null {
  if (CHALLENGES.has(match.action)) return challenges.ask(exchange);
  if (match.action !== "block") return null;
  return blockPage(EDGE_ERRORS.blocked, match.action_parameters, exchange.accept, exchange.ray_id);
}

/** RFC 6585 §4: 429 with Retry-After, if the rule knows the time. */
function limitRate(exchange: Exchange, match: Match, { challenges }: PipelineDeps): Page | null {
  if (CHALLENGES.has(match.action)) return challenges.ask(exchange);
  if (match.action !== "block") return null;
  const { mitigation_timeout: timeout, period } = (match.rule.ratelimit ?? {}) as { mitigation_timeout?: number; period?: number };
  setField(editResponse(exchange), "Retry-After", String(timeout || period || 60));
  return blockPage(EDGE_ERRORS.rate_limited, match.action_parameters, exchange.accept, exchange.ray_id);
}

function rewriteHead(exchange: Exchange, match: Match): void {
  if (match.action === "rewrite") rewriteResponseHeaders(exchange, match);
}

/** The last matching rule wins. */
function ruleCompression(exchange: Exchange, { action_parameters: parameters }: Match): void {
  const { algorithms } = parameters as { readonly algorithms: readonly { readonly name: Algorithm }[] };
  exchange.algorithms = algorithms.map(({ name }) => name);
}

function logRow(exchange: Exchange, match: Match, response: ResponseView): void {
  if (match.action === "log_custom_field") logFields(exchange, match, response);
}

/** The page of an edge error for this request, with the zone's custom page applied. */
export const edgePage = (exchange: Exchange, name: EdgeErrorName): Page => finishPage(exchange, plainPage(exchange, name));

const plainPage = (exchange: Exchange, name: EdgeErrorName): Page => errorPage(EDGE_ERRORS[name], exchange.accept, exchange.ray_id);
