import { STATUS_CODES } from "#kernel/net/node-http.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import { PAGE_POLICY_PARAMETER, PAGE_REPORT_PATH } from "#rules/previous-waf/page-policy-rules.ts";
import { phaseNumber } from "#rules/phases.ts";
import { PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { addField, editResponse } from "#edge/http/header-edits.ts";
import { withoutPasswords } from "#edge/http/secret-parameters.ts";
import { EDGE_ERRORS } from "#edge/pages/edge-errors.ts";
import { errorPage, type Page } from "#edge/pages/error-page.ts";
import { type CspReport, readCspReports } from "./csp-reports.ts";
import { readSetCookie } from "./set-cookie.ts";
import type { Sightings } from "./sightings.ts";

/** Page Shield at the edge: asks browsers what pages load, takes their reports, and looks at the cookies of responses. */
export interface PageShield {
  /** Whether the request is a browser's report for a zone that wants it. */
  isReport(exchange: Exchange): boolean;
  /** Takes the report; `exchange.body` is set. */
  take(exchange: Exchange): Page;
  /** Adds the field that asks for reports to a page; `cookies` reads the Set-Cookie fields of the response. */
  watch(exchange: Exchange, cookies: () => readonly string[]): void;
}

const REPORT_BYTES_MAX = 65_536;
const COOKIES_MAX = 50;
/** Browsers report what these directives would refuse: everything with a URL. Inline scripts have none, so they are allowed. */
const ASKS = `script-src 'unsafe-inline' 'unsafe-eval'; connect-src 'none'; report-uri ${PAGE_REPORT_PATH}`;
const TRANSFORMS = phaseNumber("http_response_headers_transform");
const NO_CONTENT: Page = { status: 204, reason: STATUS_CODES[204] ?? "", contentType: "text/plain", body: "", isChosen: true };

export function createPageShield(sightings: Pick<Sightings, "add" | "may">): PageShield {
  const takeResource = (exchange: Exchange, { directive, page, blocked }: CspReport): void => {
    const kind = /^(?:script|worker)-src/.test(directive) ? "script" : directive === "connect-src" ? "connection" : null;
    const { zone, settings } = exchange;
    if (kind === null || zone === null) return;
    const withPath = kind === "script" || settings.page_shield?.connection_paths === true;
    sightings.add({
      ...{ kind, zone_id: zone.entry.id, at_ms: exchange.at_ms, host: blocked.hostname },
      url: `${blocked.protocol}//${blocked.host}${withPath ? withoutPasswords(blocked.pathname) : "/"}`,
      page_url: pageUrl(page),
    });
  };

  return {
    isReport: ({ method, path, zone, settings }) =>
      settings.page_shield !== null && zone !== null && method === "POST" && path === PAGE_REPORT_PATH,
    take: (exchange) => {
      const { body, zone } = exchange;
      if (body === undefined || zone === null) return NO_CONTENT;
      if (body.size > REPORT_BYTES_MAX) return errorPage(EDGE_ERRORS.body_too_large, exchange.accept, exchange.ray_id);
      if (!sightings.may(zone.entry.id, "report")) return NO_CONTENT;
      const policyId = new URLSearchParams(exchange.query).get(PAGE_POLICY_PARAMETER);
      // The body has one character for each byte.
      for (const report of readCspReports(Buffer.from(body.raw, "latin1").toString())) {
        // A page of another name has no business here.
        if (report.page.hostname !== exchange.host) continue;
        if (policyId === null) takeResource(exchange, report);
        else noteViolation(exchange, zone.rulesets(TRANSFORMS), policyId, report);
      }
      return NO_CONTENT;
    },
    watch: (exchange, cookies) => {
      const { zone, settings } = exchange;
      if (settings.page_shield === null || zone === null) return;
      const zoneId = zone.entry.id;
      if (exchange.contentType === "text/html" && sightings.may(zoneId, "page"))
        addField(editResponse(exchange), "Content-Security-Policy-Report-Only", ASKS);
      // The target of OPTIONS may be `*`, which is not a page.
      const page = exchange.path.startsWith("/") ? URL.parse(`${exchange.scheme}://${exchange.authority}${exchange.path}`) : null;
      if (page === null) return;
      for (const field of cookies().slice(0, COOKIES_MAX)) {
        const cookie = readSetCookie(field);
        const seen = { kind: "cookie", zone_id: zoneId, at_ms: exchange.at_ms, host: exchange.host, page_url: pageUrl(page) } as const;
        if (cookie !== null) sightings.add({ ...seen, ...cookie });
      }
    },
  };
}

const pageUrl = ({ protocol, host, pathname }: URL): string => `${protocol}//${host}${withoutPasswords(pathname)}`;

const VIOLATIONS_MAX = 10;

/** A security event of the policy, with the directive and the refused URL; only for a policy of the zone. */
function noteViolation(
  exchange: Exchange,
  rulesets: readonly CompiledRuleset[],
  policyId: string,
  { directive, blocked }: CspReport,
): void {
  const policies = rulesets.find(({ id }) => id === PREVIOUS_SLOTS.page_shield.ruleset_id)?.rules ?? [];
  const match = policies.find(({ definition }) => definition.id === policyId)?.match;
  if (match === undefined || exchange.logged.length >= VIOLATIONS_MAX) return;
  const name = `${blocked.protocol}//${blocked.host}`;
  const places = [{ part: directive, name, value: "" }];
  exchange.logged.push({
    phase: "http_response_headers_transform",
    match: { ...match, found: [{ rule_id: policyId, places, score: 0 }] },
  });
}
