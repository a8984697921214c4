import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#kernel/clock.ts";
import type { Admitted, Route } from "#gateway/auth/admission.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { HeaderRules } from "#gateway/http/headers.ts";
import { planCompat } from "./compat-plan.ts";
import { type Plan, type PlanRequest, planOf } from "#gateway/request/plan.ts";
import type { Upstreams } from "#gateway/providers/providers.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import type { RequestOptionsReader } from "#gateway/request/request-options.ts";
import type { GatewayRoutes } from "./gateway-routes.ts";
import type { SpendLedger } from "#gateway/limits/ledger.ts";
import { modelOf, stepOf } from "./steps.ts";
import { planUniversal } from "./universal-plan.ts";

export interface PlannerDeps {
  readonly rules: HeaderRules;
  readonly upstreams: Upstreams;
  readonly options: RequestOptionsReader;
  readonly clock: Clock;
  readonly routes: GatewayRoutes;
  readonly rateLimits: RateLimits;
  readonly ledger: SpendLedger;
  /** JSON of the request's metadata; empty where it has none. */
  readonly metadata: (headers: IncomingHttpHeaders) => string;
}

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
