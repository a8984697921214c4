import { fieldOf, holds, type RouteFacts } from "#rules/route-conditions.ts";
import type { RouteElement, RouteTarget } from "#snapshot/entries.ts";
import { type ChatRequest, chatStep } from "./chat-step.ts";
import { type GatewayErrorName, RefusalError } from "#gateway/http/errors.ts";
import type { Plan, PlanRequest, Step } from "#gateway/request/plan.ts";
import type { PlannerDeps } from "./planner-deps.ts";
import { withStepConfig } from "#gateway/request/request-options.ts";
import type { SpendBound } from "#gateway/request/spend-bound.ts";
import type { FoundRoute } from "./gateway-routes.ts";

/** Limit of elements that one request passes, whatever the route. */
const ELEMENTS_MAX = 200;
const SECONDS_PER_WINDOW = 60;
/** Besides the first attempt. */
const RETRIES_MAX = 5;

/**
 * `dynamic/{name}`: walks the route from its start; each model is a step, and after a failure the walk continues at the
 * fallback. Conditions, shares and limits are evaluated when the walk reaches them.
 */
export function planDynamic(deps: PlannerDeps, route: FoundRoute, request: PlanRequest, chat: ChatRequest["chat"]): Plan {
  const elements = new Map(route.entry.elements.map((element) => [element.id, element]));
  const facts: RouteFacts = { metadata: parsed(deps.metadata(request.headers)), body: chat };
  const bounds: SpendBound[] = [];
  let at = route.entry.elements.find(({ type }) => type === "start");
  let passed = 0;
  let steps = 0;
  let isLimited = false;
  let refused: RefusalError | undefined;

  const go = (target: RouteTarget | undefined): void => void (at = target === undefined ? undefined : elements.get(target.elementId));
  const isWithin = (element: Extract<RouteElement, { type: "rate" | "rate_limit" }>): boolean => {
    const { key = "", limit, limitType = "count", window, interval, technique = "fixed" } = element.properties;
    const part = key === "" ? "" : String(fieldOf(key, facts) ?? "").slice(0, 256);
    const name = JSON.stringify(["route", route.id, element.id, part]);
    const seconds = Math.max(1, window ?? interval ?? SECONDS_PER_WINDOW);
    if (limitType === "count") return deps.rateLimits.takeFor(name, { limit, interval_seconds: seconds, technique }) === 0;
    const bound: SpendBound = { key: name, limit, windowMs: seconds * 1000, technique };
    if (!deps.ledger.hasRoom(bound)) return false;
    bounds.push(bound);
    return true;
  };
  const modelStep = ({ properties }: Extract<RouteElement, { type: "model" }>): Step | undefined => {
    const { provider, model, retries, timeout } = properties;
    const timed = withStepConfig(request.options, timeout === undefined || timeout <= 0 ? {} : { requestTimeout: timeout });
    // Routes from before the limit may have more.
    const options = retries === undefined ? timed : { ...timed, attemptsMax: Math.min(retries, RETRIES_MAX) + 1 };
    const made = madeStep(deps, { request, chat, model: `${provider}/${model}`, index: steps, options });
    // An unknown provider, or one that cannot express the request, counts as a failure.
    if (typeof made === "string") return undefined;
    if (made instanceof RefusalError) return void (refused ??= made);
    steps++;
    return bounds.length === 0 ? made : { ...made, bounds: [...bounds] };
  };

  return {
    next: () => {
      while (at !== undefined && passed++ < ELEMENTS_MAX) {
        const element = at;
        if (element.type === "start") go(element.outputs.next);
        else if (element.type === "conditional") go(element.outputs[holds(conditionOf(element), facts) ? "true" : "false"]);
        else if (element.type === "percentage") go(shareOf(element.outputs, Math.random() * 100));
        else if (element.type === "model") {
          go(element.outputs.fallback);
          const step = modelStep(element);
          if (step !== undefined) return step;
        } else if (element.type === "end") break;
        else {
          const within = isWithin(element);
          isLimited ||= !within;
          go(within ? element.outputs.success : element.outputs.fallback);
        }
      }
      if (steps > 0) return undefined;
      if (isLimited) throw new RefusalError({ name: "aig_rate_limited" });
      if (refused !== undefined) throw refused;
      throw new RefusalError({
        name: "aig_bad_request_body",
        message: `The route ${route.entry.name} selects no model for this request.`,
      });
    },
  };
}

/** A request that the provider cannot express is an error only if no other provider is left. */
function madeStep(deps: PlannerDeps, asked: ChatRequest): Step | GatewayErrorName | RefusalError {
  try {
    return chatStep(deps, asked);
  } catch (error) {
    if (error instanceof RefusalError) return error;
    throw error;
  }
}

const conditionOf = ({ properties }: Extract<RouteElement, { type: "conditional" }>) => properties.conditions ?? properties.condition ?? {};

/** The output whose share contains the point; `else` has the remaining share. */
export function shareOf(outputs: Readonly<Record<string, RouteTarget>>, point: number): RouteTarget | undefined {
  let sum = 0;
  for (const [name, target] of Object.entries(outputs)) {
    if (name === "else") continue;
    sum += Number.parseFloat(name);
    if (point < sum) return target;
  }
  return outputs["else"] ?? Object.values(outputs).at(-1);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}
