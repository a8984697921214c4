import type { GatewayDomainEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { OriginPlan } from "#edge/exchange/decisions.ts";
import type { Zones } from "#edge/zones/zones.ts";

/** Recognises requests for gateways by their host names, and knows the gateway's address. */
export interface GatewayRoute {
  /** Null for other requests, or if the gateway's port is unknown; `refused` if the visitor's TLS is too old for the name. */
  originOf(exchange: Pick<Exchange, "host" | "tls">): OriginPlan | "refused" | null;
  moveTo(port: number): void;
}

export function createGatewayRoute(deps: { readonly replica: Replica; readonly zones: Zones; readonly port: number }): GatewayRoute {
  const domains = new Map<string, GatewayDomainEntry>();
  followKind(deps.replica, "gateway_domain", {
    clear: () => domains.clear(),
    put: (host, entry) => void domains.set(host, entry),
    remove: (host) => void domains.delete(host),
  });
  const planAt = (port: number): OriginPlan | null => (port === 0 ? null : { addresses: ["127.0.0.1"], port, tls: null });
  let plan = planAt(deps.port);
  return {
    originOf: ({ host, tls }) => {
      // Over plain HTTP, the keys in requests could be read on the way.
      if (domains.size === 0 || tls === undefined) return null;
      const domain = domains.get(host);
      if (domain === undefined) return null;
      // A longer part of the name may have become another zone since: the account's own, or another account's with a
      // proof.
      const zone = deps.zones.nearestZone(host, domain.account_id)?.entry;
      if (zone?.id !== domain.zone_id || zone.paused) return null;
      return domain.min_tls === "1.3" && tls.version !== "TLSv1.3" ? "refused" : plan;
    },
    moveTo: (port) => {
      plan = planAt(port);
    },
  };
}
