import type { PlannerDeps } from "./planner-deps.ts";
import type { Admitted, Route } from "#gateway/auth/admission.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import { planCompat } from "./compat-plan.ts";
import { type Plan, type PlanRequest, planOf } from "#gateway/request/plan.ts";
import { modelOf, stepOf } from "./steps.ts";
import { planUniversal } from "./universal-plan.ts";

/** How each kind of route becomes a plan. */
type Planners = { readonly [K in Route["kind"]]: (request: PlanRequest, route: Extract<Route, { kind: K }>) => Plan | GatewayErrorName };

export interface RequestPlanner {
  /** A reason instead of a plan: the request is refused and leaves no row. Throws a RefusalError where the reason needs words. */
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
    // Each planner takes the route of its own kind, which the compiler cannot follow through the table.
    plan: (request, { route }) => (planners[route.kind] as (request: PlanRequest, route: Route) => Plan | GatewayErrorName)(request, route),
  };
}
