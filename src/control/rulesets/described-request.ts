import { listAt } from "#kernel/lists.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import { canonicalIp } from "#kernel/net/ip.ts";
import { urlNormalizationOf, viewedUrl } from "#control/open-zone/url-paths.ts";
import type { RuleTraceRequest } from "#model/rulesets/rule-trace.ts";
import type { FieldChange } from "#rules/actions/field-change.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** A hypothetical request as rules see it; rewriting rules modify it. */
export interface DescribedRequest extends RequestView {
  readonly fields: ReadonlyMap<string, readonly string[]>;
  path: string;
  origin_path?: string | undefined;
  query: string;
  /** Applies a match as the edge would. */
  change(match: Match): void;
}

const CLIENT_IP = "192.0.2.1";

/** Throws `invalid_input` for an invalid URL or client address. */
export function describeRequest(
  input: RuleTraceRequest,
  served: Pick<Partial<RequestView>, "zone_name" | "zone_plan" | "hostname_metadata">,
  nowMs: number,
  normalization = urlNormalizationOf(undefined),
): DescribedRequest {
  const url = URL.parse(input.url);
  const host = url === null ? undefined : parseHostname(url.hostname, { underscores: true });
  if (url === null || host === undefined || !/^https?:$/.test(url.protocol))
    throw new PlatformError("invalid_input", { message: `"url" must be a URL that starts with http:// or https://.`, source: "/url" });
  const ip = canonicalIp(input.ip ?? CLIENT_IP);
  if (ip === undefined) throw new PlatformError("invalid_input", { message: `"ip" must be an IP address.`, source: "/ip" });
  const fields = fieldsOf(input.headers);
  const body = Buffer.from(input.body ?? "").toString("latin1");
  return {
    ray_id: "0000000000000000",
    zone_name: "",
    ...served,
    method: input.method ?? "GET",
    scheme: url.protocol === "https:" ? "https" : "http",
    host,
    ...viewedUrl(writtenPath(input.url), url.search.slice(1), normalization),
    user_agent: fields.get("user-agent")?.[0] ?? "",
    client_ip: ip,
    at_ms: nowMs,
    http_version: "HTTP/1.1",
    ...(input.body === undefined ? {} : { body: { raw: body, size: body.length, truncated: false } }),
    fields,
    headers: (name) => fields.get(name) ?? [],
    header_fields: () => {
      const pairs = [...fields].flatMap(([name, values]) => values.map((value) => [name, value] as const));
      return { names: pairs.map(([name]) => name), values: pairs.map(([, value]) => value) };
    },
    change(match) {
      const { uri } = match.action_parameters as RewriteParameters;
      if (typeof uri?.path?.value === "string") this.path = this.origin_path = uri.path.value;
      if (typeof uri?.query?.value === "string") this.query = uri.query.value;
      for (const change of match.changes) changeField(fields, change);
    },
  };
}

/** The path as it is written: a parsed URL would have no dot segments. */
function writtenPath(url: string): string {
  const path = /^[a-z]+:[/\\]{2}[^/\\?#]*([^?#]*)/i.exec(url.trim().toWellFormed())?.[1] ?? "";
  return path === "" ? "/" : path.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

interface RewriteParameters {
  readonly uri?: { readonly path?: { readonly value?: unknown }; readonly query?: { readonly value?: unknown } };
}

function changeField(fields: Map<string, string[]>, { lower, operation, value, line }: FieldChange): void {
  if (operation !== "add") fields.delete(lower);
  if (line !== "") listAt(fields, lower).push(value);
}

/** The origin's response, or the edge's own with this status. */
export function describeResponse(input: RuleTraceRequest["response"], status: number | null): ResponseView {
  const fields = status === null ? fieldsOf(input?.headers) : new Map<string, string[]>();
  const type = fields.get("content-type")?.[0] ?? "text/html";
  return {
    status: status ?? input?.status ?? 200,
    content_type: type.split(";", 1)[0]?.trim().toLowerCase() ?? "",
    headers: (name) => fields.get(name) ?? [],
  };
}

/** The edge takes no head with more. */
const FIELDS_MAX = 256;

function fieldsOf(headers: RuleTraceRequest["headers"] = {}): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const given = Object.entries(headers);
  const count = given.reduce((sum, [, value]) => sum + (typeof value === "string" ? 1 : value.length), 0);
  if (count > FIELDS_MAX)
    throw new PlatformError("invalid_input", { message: `"headers" must have at most ${FIELDS_MAX} fields.`, source: "/headers" });
  for (const [name, value] of given) {
    const values = listAt(fields, name.toLowerCase());
    for (const one of typeof value === "string" ? [value] : value) values.push(one);
  }
  return fields;
}
