/** A violation of a Content Security Policy, as a browser reports it. */
export interface CspReport {
  /** `script-src-elem`, `connect-src`, … */
  readonly directive: string;
  readonly page: URL;
  readonly blocked: URL;
}

const REPORTS_MAX = 100;
const URL_CHARACTERS_MAX = 2048;
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);

/**
 * The reports about URLs in a body, in either form: `{"csp-report": {…}}` (CSP Level 2 §4.4), or a list of reports of the
 * Reporting API (CSP Level 3 §5). Other content gives none, since browsers also report inline scripts and `eval`.
 */
export function readCspReports(body: string): readonly CspReport[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  const items: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return items.slice(0, REPORTS_MAX).flatMap((item) => {
    const old = member(item, "csp-report");
    if (old !== undefined) return reportOf(old, OLD_NAMES);
    return member(item, "type") === "csp-violation" ? reportOf(member(item, "body"), NEW_NAMES) : [];
  });
}

interface Names {
  readonly directives: readonly string[];
  readonly page: string;
  readonly blocked: string;
}

const OLD_NAMES: Names = { directives: ["effective-directive", "violated-directive"], page: "document-uri", blocked: "blocked-uri" };
const NEW_NAMES: Names = { directives: ["effectiveDirective"], page: "documentURL", blocked: "blockedURL" };

function reportOf(report: unknown, names: Names): readonly CspReport[] {
  // `violated-directive` may be the whole directive with its sources.
  const directive = names.directives.map((name) => text(report, name).split(" ", 1)[0]!.toLowerCase()).find((name) => name !== "");
  const [page, blocked] = [urlOf(text(report, names.page)), urlOf(text(report, names.blocked))];
  return directive === undefined || page === null || blocked === null ? [] : [{ directive, page, blocked }];
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;

function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" && found.length <= URL_CHARACTERS_MAX ? found : "";
}

function urlOf(value: string): URL | null {
  const url = URL.parse(value);
  return url !== null && SCHEMES.has(url.protocol) && url.host !== "" ? url : null;
}
