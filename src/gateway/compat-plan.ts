import type { GatewayErrorName } from "./errors.ts";
import { type Plan, type PlanRequest, planOf, type Step } from "./plan.ts";
import type { PlannerDeps } from "./planner.ts";
import { placeOf } from "./providers.ts";
import type { RequestOptions } from "./request-options.ts";
import { MODEL_CHARACTERS_MAX } from "./request-model.ts";
import { stepOf } from "./steps.ts";

/** A chat completion in the shape of OpenAI, for whichever provider its model names. */
export interface ChatRequest {
  readonly request: PlanRequest;
  /** The body's object. */
  readonly chat: Readonly<Record<string, unknown>>;
  /** `{provider}/{model}` */
  readonly model: string;
  readonly index: number;
  readonly options: RequestOptions;
}

/** `/compat/chat/completions`: one step to the provider that the model names (reference: code 2019 without one). */
export function planCompat(deps: PlannerDeps, request: PlanRequest): Plan | GatewayErrorName {
  const { path, body, options } = request;
  if (path.rest !== "/chat/completions" && path.rest !== "/v1/chat/completions") return "aig_bad_request";
  if (body.kind === "stream") return "aig_body_too_large";
  const chat = objectOf(body.bytes);
  const model = chat?.["model"];
  if (chat === undefined || typeof model !== "string") return "aig_bad_request_body";
  const step = chatStep(deps, { request, chat, model, index: 0, options });
  return typeof step === "string" ? step : planOf([step]);
}

/** The step that asks the model's provider, in the provider's own shape. */
export function chatStep(
  { upstreams, rules }: PlannerDeps,
  { request, chat, model, index, options }: ChatRequest,
): Step | GatewayErrorName {
  const slash = model.indexOf("/");
  const name = model.slice(slash + 1).slice(0, MODEL_CHARACTERS_MAX);
  if (slash <= 0 || name === "") return "aig_bad_request_body";
  const upstream = upstreams.find(request.gateway.account_id, model.slice(0, slash));
  if (upstream === undefined) return "aig_invalid_provider";
  const rest = "/chat/completions";
  const place = upstream.provider.chatPaths.has(rest) ? placeOf(upstream, rest) : undefined;
  if (place === undefined) return "aig_invalid_provider";
  const bytes = Buffer.from(JSON.stringify({ ...chat, model: name }));
  const { method, headers } = request;
  const spec = { index, upstream, place, rest, query: "", method, model: name, options };
  return stepOf({ ...spec, headers: rules.toProvider(headers), body: { kind: "whole", bytes } });
}

function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
