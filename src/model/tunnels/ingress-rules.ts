import { hostnameMatches, hostnameProblem, parseHostname } from "#kernel/net/hostname.ts";
import { compileRegexTest, RegexError, type RegexTest } from "#rules/regex/regex.ts";
import type { IngressConfig, IngressRule, OriginRequest } from "./ingress.ts";

/** Where a rule sends requests. */
export type IngressService =
  | { readonly kind: "http" | "https"; readonly host: string; readonly port: number }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "status"; readonly status: number }
  /** The configuration has no rules. */
  | { readonly kind: "unset" };

/** A rule that can be asked. */
export interface CompiledIngress {
  /** Empty: every host. */
  readonly hostname: string;
  readonly path: RegexTest | null;
  readonly service: IngressService;
  readonly origin: OriginRequest;
}

/** A fault of a configuration, with its place in the body. */
export class IngressError extends Error {
  readonly source: string;
  constructor(source: string, message: string) {
    super(message);
    this.source = source;
  }
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, tcp: 0, ssh: 22, rdp: 3389, smb: 445 };
/** `ssh:` and the like are TCP to a port that is known. */
const TCP = new Set(["tcp", "ssh", "rdp", "smb"]);

/** Throws IngressError. */
export function parseService(text: string, source: string): IngressService {
  const status = /^http_status:(\d{3})$/.exec(text)?.[1];
  if (status !== undefined) {
    if (Number(status) < 200 || Number(status) > 599) throw new IngressError(source, `${status} is not a status between 200 and 599.`);
    return { kind: "status", status: Number(status) };
  }
  const scheme = /^([a-z]{2,8}):\/\//.exec(text)?.[1] ?? "";
  const port = PORTS[scheme];
  if (port === undefined)
    throw new IngressError(
      source,
      `The service ${text} is not supported: use http://, https://, tcp://, ssh://, rdp://, smb:// or http_status:NNN.`,
    );
  // A URL drops the port that its scheme has by default, and one above the limit makes it no URL at all.
  const named = /:(\d+)\/?$/.exec(text)?.[1];
  const number = named === undefined ? port : Number(named);
  if (number < 1 || number > 65_535) throw new IngressError(source, `${text} needs a port between 1 and 65535.`);
  const url = URL.canParse(`http://${text.slice(scheme.length + 3)}`) ? new URL(`http://${text.slice(scheme.length + 3)}`) : null;
  if (url === null || url.hostname === "" || url.username !== "" || url.password !== "")
    throw new IngressError(source, `${text} does not name a host.`);
  if ((url.pathname !== "/" && url.pathname !== "") || url.search !== "" || url.hash !== "")
    throw new IngressError(source, `${text} has a path or a query: requests keep their own.`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return TCP.has(scheme) ? { kind: "tcp", host, port: number } : { kind: scheme as "http" | "https", host, port: number };
}

/** They become a line of a request's head and a name in a TLS handshake. */
const HOST = /^(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const SERVER_NAME = /^[A-Za-z0-9_.-]{1,253}$/;

/** Throws for options that would promise what no connector does, and for names that are none. Empty names count as absent. */
function checkOrigin(options: OriginRequest, source: string): void {
  const { access, http2Origin, disableChunkedEncoding, proxyType, httpHostHeader = "", originServerName = "" } = options;
  if (httpHostHeader !== "" && !HOST.test(httpHostHeader))
    throw new IngressError(`${source}/httpHostHeader`, "httpHostHeader must be a host name or an address, with or without a port.");
  if (originServerName !== "" && !SERVER_NAME.test(originServerName))
    throw new IngressError(`${source}/originServerName`, "originServerName must be a host name.");
  const refuse = (field: string): never => {
    throw new IngressError(`${source}/${field}`, `${field} is not available in this version.`);
  };
  if (access?.required === true) refuse("access");
  if (http2Origin === true) refuse("http2Origin");
  if (disableChunkedEncoding === true) refuse("disableChunkedEncoding");
  if (proxyType !== undefined && proxyType !== "") refuse("proxyType");
}

function compileRule(rule: IngressRule, origin: OriginRequest, source: string): CompiledIngress {
  const wanted = rule.hostname === undefined || rule.hostname === "*" ? "" : rule.hostname;
  const hostname = wanted === "" ? "" : parseHostname(wanted, { wildcard: true, underscores: true });
  if (hostname === undefined)
    throw new IngressError(
      `${source}/hostname`,
      `${wanted} is not a valid host name: ${hostnameProblem(wanted, { wildcard: true }) ?? ""}.`,
    );
  checkOrigin(rule.originRequest ?? {}, `${source}/originRequest`);
  let path: RegexTest | null = null;
  try {
    if (rule.path !== undefined && rule.path !== "") path = compileRegexTest(rule.path);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new IngressError(`${source}/path`, `The path is not a valid regular expression: ${error.message}.`);
  }
  return { hostname, path, service: parseService(rule.service, `${source}/service`), origin: { ...origin, ...rule.originRequest } };
}

/** Throws IngressError. Without rules, every request gets 503. */
export function compileIngress({ ingress, originRequest = {}, "warp-routing": warp }: IngressConfig): readonly CompiledIngress[] {
  if (warp?.enabled === true) throw new IngressError("/config/warp-routing", "warp-routing is not available in this version.");
  checkOrigin(originRequest, "/config/originRequest");
  if (ingress === undefined) return [{ hostname: "", path: null, service: { kind: "unset" }, origin: originRequest }];
  const rules = ingress.map((rule, at) => compileRule(rule, originRequest, `/config/ingress/${at}`));
  const matchesAll = ({ hostname, path }: CompiledIngress): boolean => hostname === "" && path === null;
  const last = rules.at(-1);
  if (last === undefined || !matchesAll(last))
    throw new IngressError(
      `/config/ingress/${rules.length - 1}`,
      "The last rule must match every request: it can have no hostname and no path.",
    );
  const early = rules.slice(0, -1).findIndex(matchesAll);
  if (early >= 0)
    throw new IngressError(`/config/ingress/${early}`, "This rule matches every request, so the rules after it would never be used.");
  return rules;
}

/** The first rule that matches. `host`: without a port, in lower case. */
export const ingressFor = (rules: readonly CompiledIngress[], host: string, path: string): CompiledIngress | undefined =>
  rules.find((rule) => (rule.hostname === "" || hostnameMatches(rule.hostname, host)) && (rule.path === null || rule.path.test(path)));
