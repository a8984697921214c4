import { chatStep, embeddingsStep } from "./chat-step.ts";
import { type GatewayErrorName, RefusalError, refusalMessage } from "#gateway/http/errors.ts";
import { type Plan, type PlanRequest, planOf, type Step } from "#gateway/request/plan.ts";
import type { PlannerDeps } from "./planner-deps.ts";
import { planDynamic } from "./dynamic-plan.ts";
import { DYNAMIC } from "./gateway-routes.ts";
import { parseJson } from "#gateway/http/json.ts";

const ENDPOINTS: ReadonlyMap<string, "chat" | "embeddings"> = new Map([
  ["/chat/completions", "chat"],
  ["/embeddings", "embeddings"],
]);

/** Whether a request at `/compat` lists the models. */
export const isModelList = (method: string | undefined, rest: string): boolean => method === "GET" && /^(?:\/v1)?\/models\/?$/.test(rest);

/**
 * `/compat/chat/completions` and `/compat/embeddings`: one step to the provider that the model names (error 2019 without
 * a model).
 */
export function planCompat(deps: PlannerDeps, request: PlanRequest): Plan | GatewayErrorName {
  const { path, body, options } = request;
  const endpoint = ENDPOINTS.get(path.rest.replace(/^\/v1(?=\/)/, ""));
  if (endpoint === undefined)
    throw new RefusalError({ name: "aig_bad_request", message: "The unified endpoint has /chat/completions, /embeddings and /models." });
  if (body.kind === "stream") return "aig_body_too_large";
  const chat = objectOf(body.bytes);
  const model = chat?.["model"];
  if (chat === undefined) throw malformed("the body must be a JSON object");
  if (typeof model !== "string") throw malformed(NAMED);
  if (endpoint === "embeddings") {
    const step = embeddingsStep(deps, { request, chat, model, index: 0, options });
    return planOrRefusal(step);
  }
  if (model.startsWith(DYNAMIC)) {
    const route = deps.routes.find(request.gateway, model.slice(DYNAMIC.length));
    return route === undefined ? "aig_unknown_route" : planDynamic(deps, route, request, chat);
  }
  const step = chatStep(deps, { request, chat, model, index: 0, options });
  return planOrRefusal(step);
}

const NAMED = "model: must name a provider and its model, such as openai/gpt-4o-mini";

const malformed = (why: string): RefusalError =>
  new RefusalError({ name: "aig_bad_request_body", message: `${refusalMessage("aig_bad_request_body")}: ${why}` });

function planOrRefusal(step: Step | GatewayErrorName): Plan | GatewayErrorName {
  if (step === "aig_bad_request_body") throw malformed(NAMED);
  return typeof step === "string" ? step : planOf([step]);
}

function objectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
