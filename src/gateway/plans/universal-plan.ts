import type { IncomingHttpHeaders } from "node:http";
import { chatStep } from "./chat-step.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import { type Plan, type PlanRequest, planOf, type Step } from "#gateway/request/plan.ts";
import type { PlannerDeps } from "./planner-deps.ts";
import { pathAdvice, requestAddressOf } from "#gateway/providers/providers.ts";
import { withStepConfig } from "#gateway/request/request-options.ts";
import { isUnsafePath } from "#gateway/request/request-path.ts";
import { modelOf, stepOf } from "./steps.ts";
import { parsedJson } from "#gateway/http/json.ts";

/** Limit of steps per request. */
const ITEMS_MAX = 10;

/**
 * `POST /v1/{account_id}/{gateway_id}`: an array of requests; each is sent if the one before it failed. The planner
 * validates all of them first, so that an error in the last one is always reported.
 */
export function planUniversal(deps: PlannerDeps, request: PlanRequest): Plan {
  if (request.method !== "POST") throw refused("The universal endpoint accepts only POST with an array of steps.");
  if (request.body.kind === "stream") throw new RefusalError({ name: "aig_body_too_large" });
  const items = parsed(request.body.bytes);
  if (!Array.isArray(items) || items.length === 0 || items.length > ITEMS_MAX)
    throw refused(`The universal endpoint requires an array of 1 to ${ITEMS_MAX} steps, each with provider, endpoint, headers and query.`);
  return planOf(items.map((item: unknown, index) => itemStep(deps, request, item, index)));
}

function itemStep(deps: PlannerDeps, request: PlanRequest, item: unknown, index: number): Step {
  const wrong = (what: string): RefusalError => refused(`Step ${index}: ${what}.`);
  if (!isObject(item)) throw wrong("it must be an object");
  const { provider, endpoint = "", query, config = {} } = item;
  if (typeof provider !== "string") throw wrong("it must name a provider");
  if (typeof endpoint !== "string") throw wrong("its endpoint must be a string");
  if (!isObject(config)) throw wrong("its config must be an object");
  const headers = itemHeaders(item);
  if (headers === undefined) throw wrong("its headers must be an object of field names and strings");
  let { options } = request;
  try {
    options = withStepConfig(deps.options.read(headers, options), config);
  } catch (error) {
    if (error instanceof RangeError) throw wrong(`a value of its config ${error.message}`);
    throw error;
  }
  const own: PlanRequest = { ...request, headers, options, body: { kind: "whole", bytes: bytesOf(query) } };
  if (provider === "compat") {
    const step = isObject(query) &&
      typeof query["model"] === "string" && { request: own, chat: query, model: query["model"], index, options };
    const made = step === false ? "aig_bad_request_body" : chatStep(deps, step);
    if (typeof made === "string") throw new RefusalError({ name: made });
    return made;
  }
  return directStep(deps, own, provider, endpoint, index);
}

function directStep({ upstreams, rules }: PlannerDeps, request: PlanRequest, provider: string, endpoint: string, index: number): Step {
  const upstream = upstreams.find(request.gateway.account_id, provider);
  if (upstream === undefined) throw new RefusalError({ name: "aig_invalid_provider" });
  const { rest, query } = endpointParts(endpoint);
  const place = requestAddressOf(upstream, rest);
  if (place === undefined) throw refused(`Step ${index}: ${pathAdvice(upstream)}`);
  const model = modelOf(request, upstream, rest);
  if (model === undefined) throw new RefusalError({ name: "aig_bad_request_body" });
  const { method, body, options } = request;
  return stepOf({ index, upstream, place, rest, query, method, model, headers: rules.toProvider(request.headers), body, options });
}

/** Accepts `chat/completions`, `/chat/completions` and `v1/chat/completions?x=1`; refuses what a request path would refuse. */
function endpointParts(endpoint: string): { readonly rest: string; readonly query: string } {
  const question = endpoint.indexOf("?");
  const path = question < 0 ? endpoint : endpoint.slice(0, question);
  const rest = path === "" || path.startsWith("/") ? path : `/${path}`;
  if (endpoint.length > 8192 || !/^[\x21-\x7e]*$/.test(endpoint) || isUnsafePath(rest))
    throw refused("An endpoint is not a valid URL path.");
  return { rest, query: question < 0 ? "" : endpoint.slice(question) };
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
// linear: pumped
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,16384}$/;
const FIELDS_MAX = 100;

/** Undefined if they are not valid header fields (RFC 9110 §5.5). */
function itemHeaders({ headers = {}, authorization }: Readonly<Record<string, unknown>>): IncomingHttpHeaders | undefined {
  if (!isObject(headers)) return undefined;
  const fields: Record<string, string> = { "content-type": "application/json" };
  const entries = Object.entries(headers);
  if (authorization !== undefined) entries.push(["authorization", authorization]);
  if (entries.length > FIELDS_MAX) return undefined;
  for (const [name, value] of entries) {
    const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    if (typeof text !== "string" || !FIELD_NAME.test(name) || !FIELD_VALUE.test(text)) return undefined;
    fields[name.toLowerCase()] = text;
  }
  return fields;
}

const bytesOf = (query: unknown): Buffer =>
  query === undefined || query === null ? Buffer.alloc(0) : Buffer.from(typeof query === "string" ? query : JSON.stringify(query));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const refused = (message: string): RefusalError => new RefusalError({ name: "aig_bad_request", message });

const parsed = (bytes: Buffer): unknown => parsedJson(bytes.toString("utf8"));
