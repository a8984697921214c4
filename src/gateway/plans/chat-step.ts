import { newUlid } from "#kernel/crypto/ids.ts";
import { type GatewayErrorName, RefusalError, refusalMessage } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import { keyHeaderOf } from "#gateway/credentials/credential-fields.ts";
import type { AnswerHead, PlanRequest, Step } from "#gateway/request/plan.ts";
import type { PlannerDeps } from "./planner-deps.ts";
import { requestAddressOf, type Upstream } from "#gateway/providers/providers.ts";
import type { RequestOptions } from "#gateway/request/request-options.ts";
import { MODEL_CHARACTERS_MAX } from "#gateway/request/request-model.ts";
import { stepOf, type StepSpec } from "./steps.ts";
import { readChat } from "#gateway/dialects/chat.ts";
import { createChatAnswer, createWholeAnswer } from "#gateway/dialects/chat-answer.ts";
import type { Dialect } from "#gateway/dialects/dialect.ts";
import type { LocationFacts } from "#gateway/request/provider-location-facts.ts";
import { dialectOf } from "#gateway/dialects/dialects.ts";
import { type Json, UntranslatableError } from "#gateway/http/json.ts";

/** A chat completion request in OpenAI's format, for the provider that its model names. */
export interface ChatRequest {
  readonly request: PlanRequest;
  /** The parsed body. */
  readonly chat: Readonly<Record<string, unknown>>;
  /** `{provider}/{model}` */
  readonly model: string;
  readonly index: number;
  readonly options: RequestOptions;
}

/** The step that sends the request to the model's provider, in the provider's format. */
export function chatStep(deps: PlannerDeps, asked: ChatRequest): Step | GatewayErrorName {
  const target = targetOf(deps, asked);
  if (typeof target === "string") return target;
  const dialect = dialectOf(target.upstream.provider.name, target.name);
  return dialect === undefined ? alikeStep(deps, target, "/chat/completions", asked) : dialectStep(deps, dialect, target, asked);
}

/** The same for embeddings, which are never streamed. */
export function embeddingsStep(deps: PlannerDeps, asked: ChatRequest): Step | GatewayErrorName {
  const target = targetOf(deps, asked);
  if (typeof target === "string") return target;
  const { upstream, name } = target;
  const dialect = dialectOf(upstream.provider.name, name);
  if (dialect === undefined) return alikeStep(deps, target, "/embeddings", asked);
  const { embeddings } = dialect;
  if (embeddings === undefined) return "aig_invalid_provider";
  const { request, chat, index, options } = asked;
  const model = dialect.model(name);
  const bytes = Buffer.from(JSON.stringify(readable(() => embeddings.request(chat, model))));
  const answer = (body: unknown): Json | undefined => embeddings.answer(body, model, chat["encoding_format"] === "base64");
  const spec = {
    index,
    upstream,
    method: request.method,
    model,
    options,
    headers: withKey(deps.rules.toProvider(request.headers), dialect.keyHeader, dialect.headers),
    body: { kind: "whole", bytes } as const,
    transforms: [(head: AnswerHead) => createWholeAnswer(dialect, answer, head.status)],
  };
  return placedStep(dialect, spec, (facts) => embeddings.path(name, facts));
}

interface Target {
  readonly upstream: Upstream;
  /** The model, without its provider. */
  readonly name: string;
}

function targetOf({ upstreams }: PlannerDeps, { request, model }: ChatRequest): Target | GatewayErrorName {
  const slash = model.indexOf("/");
  const name = model.slice(slash + 1).slice(0, MODEL_CHARACTERS_MAX);
  if (slash <= 0 || name === "") return "aig_bad_request_body";
  const upstream = upstreams.find(request.gateway.account_id, model.slice(0, slash));
  return upstream === undefined ? "aig_invalid_provider" : { upstream, name };
}

/** For a provider that takes the body unchanged except for the model's name; some use another path prefix. */
function alikeStep({ rules }: PlannerDeps, { upstream, name }: Target, rest: string, asked: ChatRequest): Step | GatewayErrorName {
  const { provider } = upstream;
  const { request, chat, index, options } = asked;
  const given = { model: name, rest, query: request.path.query };
  const own = provider.compat === undefined ? { ...given, query: "" } : provider.compat(given);
  if (own === undefined) return "aig_bad_request_body";
  const isAlike = provider.compat !== undefined || provider.chatPaths.has("/chat/completions");
  const place = isAlike ? requestAddressOf(upstream, own.rest) : undefined;
  if (place === undefined) return "aig_invalid_provider";
  const bytes = Buffer.from(JSON.stringify({ ...(provider.fields?.(chat) ?? chat), model: own.model }));
  const told = { ...upstream, provider: { ...provider, isAlwaysTelling: false } };
  const headers = withKey(rules.toProvider(request.headers), keyHeaderOf(provider.name), {});
  return stepOf({ index, upstream: told, place, ...own, method: request.method, options, headers, body: { kind: "whole", bytes } });
}

/** For a provider with another API: translates the request and the response. */
function dialectStep(
  { rules, clock }: PlannerDeps,
  dialect: Dialect,
  { upstream, name }: Target,
  { request, chat, index, options }: ChatRequest,
): Step | GatewayErrorName {
  const asked = readable(() => readChat(chat));
  const model = dialect.model(name);
  const nowMs = clock.nowMs();
  const facts = {
    id: `chatcmpl-${newUlid(nowMs)}`,
    model,
    createdSeconds: Math.floor(nowMs / 1000),
    includeUsage: asked.includeUsage,
  };
  const bytes = Buffer.from(JSON.stringify(readable(() => dialect.request(asked, model))));
  const spec = {
    index,
    upstream,
    method: request.method,
    model,
    options,
    headers: withListed(
      withKey(rules.toProvider(request.headers), dialect.keyHeader, dialect.headers),
      Object.entries(dialect.requestHeaders?.(asked) ?? {}),
    ),
    body: { kind: "whole", bytes } as const,
    transforms: [(head: AnswerHead) => createChatAnswer(dialect, facts, head)],
  };
  return placedStep(dialect, spec, (placeFacts) => dialect.path(name, asked.stream, placeFacts));
}

/** A step for a provider whose URL depends on a location or project, from the model's name or the key. */
function placedStep(
  { isPlacedByKey }: Dialect,
  spec: Omit<StepSpec, "place" | "rest" | "query">,
  pathOf: (facts: LocationFacts) => string,
): Step | GatewayErrorName {
  const at = (facts: LocationFacts): Step | undefined => {
    const [rest = "", query = ""] = readable(() => pathOf(facts)).split(/(?=\?)/);
    const place = requestAddressOf(spec.upstream, rest);
    return place === undefined ? undefined : stepOf({ ...spec, place, rest, query });
  };
  if (isPlacedByKey !== true) return at({}) ?? "aig_invalid_provider";
  const placed = (facts: LocationFacts): Step => at(facts) ?? refuse("the model names a location that the provider does not have");
  return { ...(at(NOWHERE) ?? placed(NOWHERE)), placed };
}

/** Placeholder until the key supplies the location. */
const NOWHERE: LocationFacts = { project: "-" };

/** Throws a RefusalError with the position in the request of what the provider's API cannot express. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error;
    return refuse(error.message);
  }
}

function refuse(why: string): never {
  throw new RefusalError({ name: "aig_bad_request_body", message: `${refusalMessage("aig_bad_request_body")}: ${why}` });
}

/** Moves the key that OpenAI clients send as a bearer token to the header that the provider expects. */
function withKey(headers: FlatHeaders, keyHeader: string, needed: Readonly<Record<string, string>>): FlatHeaders {
  const names = new Set(headers.filter((_, i) => i % 2 === 0));
  const all: FlatHeaders = [];
  for (let i = 0; i < headers.length; i += 2) {
    const [name = "", value = ""] = [headers[i], headers[i + 1]];
    const key = name === "authorization" && !names.has(keyHeader) ? /^bearer +([^ ][^]*)$/i.exec(value)?.[1] : undefined;
    // A signed token stays a bearer token for every provider.
    if (key === undefined || isIssued(key)) all.push(name, value);
    else all.push(keyHeader, key);
  }
  for (const [name, value] of Object.entries(needed)) if (!names.has(name)) all.push(name, value);
  return all;
}

/** With values that are added to the client's own list of the same name. */
function withListed(headers: FlatHeaders, listed: readonly (readonly [string, string])[]): FlatHeaders {
  const all = [...headers];
  for (const [name, value] of listed) {
    const at = all.findIndex((field, i) => i % 2 === 0 && field === name);
    const own = all[at + 1] ?? "";
    if (at < 0) all.push(name, value);
    else if (!own.includes(value)) all[at + 1] = `${own},${value}`;
  }
  return all;
}

/** A JSON Web Token (RFC 7519 §3), which Azure accepts besides its keys. */
const isIssued = (key: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(key);
