import type { Clock } from "#kernel/clock.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { createAuthenticator } from "./auth.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { GatewayConfig } from "#gateway/config.ts";
import type { GatewayErrorName, Refusal } from "#gateway/http/errors.ts";
import { createDefaultGateways } from "./default-gateways.ts";
import { createGatewayDomains } from "./domains.ts";
import { createGateways } from "./gateways.ts";
import { type RequestAddress, type Upstream, type Upstreams, pathAdvice, requestAddressOf } from "#gateway/providers/providers.ts";
import { originForm } from "#gateway/request/origin-form.ts";
import { type RequestPath, parseRequestPath } from "#gateway/request/request-path.ts";

/** A request that may proceed, with its gateway and route. */
export interface Admitted {
  readonly path: RequestPath;
  readonly gateway: GatewayEntry;
  readonly route: Route;
  /** Undefined if the request carries a token that may run the gateway, even if the gateway needs none; otherwise the refusal. */
  unauthenticated(): Refusal | undefined;
}

/** The destination that the third part of the path names. */
export type Route =
  /** One provider, whose own paths and bodies pass through. */
  | { readonly kind: "direct"; readonly upstream: Upstream; readonly place: RequestAddress }
  /** The shape of OpenAI's chat completions for every provider. */
  | { readonly kind: "compat" }
  /** Several providers, one after the other. */
  | { readonly kind: "universal" };

export interface Admission {
  /** The request's destination, or the reason why it is refused. Looks at the head only. */
  decide(req: Pick<ClientRequest, "target" | "headers" | "address">): Admitted | Refusal;
  /**
   * Whether pages of other sites may read its answers: only those of a gateway that needs a token, because a browser does
   * not add one by itself.
   */
  isOpenToPages(req: Pick<ClientRequest, "target" | "headers">): boolean;
  /** Whether the Host field is a name of a gateway. */
  isDomain(host: string): boolean;
}

const NOTHING = (): undefined => undefined;
const PATH_ADVICE = "A path is /v1/{account_id}/{gateway_id}/{provider}/… without dot segments";

/**
 * SPEC 3.1: only the gateway's setting decides whether a token is needed; if it is off, the header is ignored, unless a
 * stored key is used (`credentials/stored-keys.ts`). Credentials are checked before the provider, so that a stranger
 * learns nothing about the gateway's table.
 */
export function createAdmission(deps: {
  readonly replica: Replica;
  readonly clock: Clock;
  readonly config: GatewayConfig;
  readonly upstreams: Upstreams;
  readonly sharedLimits?: SharedLimits;
  readonly onDefaultGateway?: (accountId: string, atMs: number) => void;
}): Admission {
  const { replica, config, upstreams } = deps;
  const gateways = createGateways(replica);
  const domains = createGatewayDomains(replica);
  const authenticator = createAuthenticator({ ...deps, vendorPrefix: config.vendorPrefix });
  const defaults = createDefaultGateways(deps);
  const refused = (name: GatewayErrorName): Refusal => ({ name });
  const pathOf = ({ target, headers: { host } }: Pick<ClientRequest, "target" | "headers">): RequestPath | undefined => {
    const own = originForm(target, host);
    return own === undefined ? undefined : parseRequestPath(domains.completed(host, own));
  };
  return {
    isDomain: domains.has,
    isOpenToPages: (req) => {
      const path = pathOf(req);
      return path !== undefined && gateways.find(path.accountId, path.gatewayId)?.authentication === true;
    },
    decide: (req) => {
      const path = pathOf(req);
      if (path === undefined) return { name: "aig_bad_request", message: PATH_ADVICE };
      const gateway =
        gateways.find(path.accountId, path.gatewayId) ??
        defaults.find(path, () => authenticator.refusal(req.headers, path.accountId, req.address) === undefined);
      if (gateway === undefined) return refused("aig_unknown_gateway");
      const ask = (): Refusal | undefined => authenticator.refusal(req.headers, gateway.account_id, req.address);
      const refusal = gateway.authentication ? ask() : undefined;
      if (refusal !== undefined) return refusal;
      const unauthenticated = gateway.authentication ? NOTHING : ask;
      if (path.provider === "" && path.rest === "") return { path, gateway, unauthenticated, route: { kind: "universal" } };
      if (path.provider === "compat") return { path, gateway, unauthenticated, route: { kind: "compat" } };
      const upstream = upstreams.find(gateway.account_id, path.provider);
      if (upstream === undefined) return refused("aig_invalid_provider");
      const place = requestAddressOf(upstream, path.rest);
      if (place === undefined) return { name: "aig_bad_request", message: pathAdvice(upstream) };
      return { path, gateway, unauthenticated, route: { kind: "direct", upstream, place } };
    },
  };
}
