import type { PlannerDeps } from "./planner-deps.ts";
import type { Admitted, Route } from "#gateway/auth/admission.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import { planCompat } from "./compat-plan.ts";
import { type Plan, type PlanRequest, planOf } from "#gateway/request/plan.ts";
import { modelOf, stepOf } from "./steps.ts";
import { planUniversal } from "./universal-plan.ts";

/** The planner of each kind of route. */
type Planners = { readonly [K in Route["kind"]]: (request: PlanRequest, route: Extract<Route, { kind: K }>) => Plan | GatewayErrorName };

export interface RequestPlanner {
  /** Returns a plan, or the error that refuses the request without a row. Throws a RefusalError if the error needs a message. */
  plan(request: PlanRequest, admitted: Admitted): Plan | GatewayErrorName;
}

export function createRequestPlanner(deps: PlannerDeps): RequestPlanner {
  const { rules } = deps;
  const planners: Planners = {
    direct: (request, { upstream, place }) => {
      const { path, method, headers, body, options } = request;
      const model = modelOf(request, upstream, path.rest);
      if (model === undefined) return "aig_bad_request_body";
      const step = { index: 0, upstream, place, rest: path.rest, query: path.query, method, model, body, options };
      return planOf([stepOf({ ...step, headers: rules.toProvider(headers) })]);
    },
    compat: (request) => planCompat(deps, request),
    universal: (request) => planUniversal(deps, request),
  };
  return {
    // The cast is needed because TypeScript cannot infer that each planner gets the route of its own kind.
    plan: (request, { route }) => (planners[route.kind] as (request: PlanRequest, route: Route) => Plan | GatewayErrorName)(request, route),
  };
}
