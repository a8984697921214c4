import type { IncomingMessage } from "node:http";
import type { Clock } from "#kernel/clock.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { createAuthenticator } from "./auth.ts";
import type { GatewayConfig } from "./config.ts";
import type { GatewayErrorName } from "./errors.ts";
import { createGateways } from "./gateways.ts";
import { type Place, type Upstream, createUpstreams, placeOf } from "./providers.ts";
import { type RequestPath, parseRequestPath } from "./request-path.ts";

/** A request that may go on: whose it is and where it goes. */
export interface Admitted {
  readonly path: RequestPath;
  readonly gateway: GatewayEntry;
  readonly upstream: Upstream;
  readonly place: Place;
}

export interface Admission {
  /** The request's destination, or the reason why it is refused. Looks at the head only. */
  decide(req: IncomingMessage): Admitted | GatewayErrorName;
}

/**
 * SPEC 3.1: only the gateway's setting decides whether a token is needed; with it off, whatever the header says is
 * ignored. Credentials come before the provider, so that a stranger learns nothing about the gateway's table.
 */
export function createAdmission(deps: { readonly replica: Replica; readonly clock: Clock; readonly config: GatewayConfig }): Admission {
  const { replica, clock, config } = deps;
  const gateways = createGateways(replica);
  const authenticator = createAuthenticator({ replica, clock, vendorPrefix: config.vendorPrefix });
  const upstreams = createUpstreams(config.providers);
  return {
    decide: (req) => {
      const path = parseRequestPath(req.url ?? "");
      if (path === undefined) return "aig_bad_request";
      const gateway = gateways.find(path.accountId, path.gatewayId);
      if (gateway === undefined) return "aig_unknown_gateway";
      if (gateway.authentication && !authenticator.allows(req.headers, gateway.account_id, req.socket.remoteAddress ?? ""))
        return "aig_unauthorized";
      const upstream = upstreams.get(path.provider);
      if (upstream === undefined) return "aig_invalid_provider";
      const place = placeOf(upstream, path.rest);
      return place === undefined ? "aig_bad_request" : { path, gateway, upstream, place };
    },
  };
}
