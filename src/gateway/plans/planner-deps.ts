import type { IncomingHttpHeaders } from "node:http";
import type { HeaderRules } from "#gateway/http/headers.ts";
import type { GatewayRoutes } from "./gateway-routes.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import type { SpendLedger } from "#gateway/limits/ledger.ts";
import type { Upstreams } from "#gateway/providers/providers.ts";
import type { RequestOptionsReader } from "#gateway/request/request-options.ts";
import type { Clock } from "#kernel/clock.ts";

export interface PlannerDeps {
  readonly rules: HeaderRules;
  readonly upstreams: Upstreams;
  readonly options: RequestOptionsReader;
  readonly clock: Clock;
  readonly routes: GatewayRoutes;
  readonly rateLimits: RateLimits;
  readonly ledger: SpendLedger;
  /** The request's metadata as JSON; empty without any. */
  readonly metadata: (headers: IncomingHttpHeaders) => string;
}
