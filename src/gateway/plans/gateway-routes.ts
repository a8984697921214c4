import { createValuesByName } from "#kernel/values-by-name.ts";
import type { GatewayEntry, GatewayRouteEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";

/** Prefix of dynamic routes in the model's place. */
export const DYNAMIC = "dynamic/";

/** Deployed dynamic routes by name. */
export interface GatewayRoutes {
  find(gateway: GatewayEntry, name: string): FoundRoute | undefined;
}

export interface FoundRoute {
  readonly id: string;
  readonly entry: GatewayRouteEntry;
}

export function createGatewayRoutes(replica: Replica): GatewayRoutes {
  const byId = new Map<string, FoundRoute>();
  const byName = createValuesByName<FoundRoute>();
  const nameOf = ({ account_id, gateway_id }: Pick<GatewayEntry, "account_id" | "gateway_id">, name: string): string =>
    `${account_id}/${gateway_id}/${name}`;
  followKind(replica, "gateway_route", {
    clear: () => [byId, byName].forEach((index) => index.clear()),
    put: (id, entry) => {
      const route = { id, entry };
      byId.set(id, route);
      byName.add(nameOf(entry, entry.name), route);
    },
    remove: (id, entry) => {
      const route = byId.get(id);
      if (route !== undefined) byName.remove(nameOf(entry, entry.name), route);
      byId.delete(id);
    },
  });
  return { find: (gateway, name) => byName.newest(nameOf(gateway, name)) };
}
