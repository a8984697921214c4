import type { GatewayEntry, GatewayRouteEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";

/** Before the name of a dynamic route, where a model would stand. */
export const DYNAMIC = "dynamic/";

/** Deployed dynamic routes by their names. */
export interface GatewayRoutes {
  find(gateway: GatewayEntry, name: string): FoundRoute | undefined;
}

export interface FoundRoute {
  readonly id: string;
  readonly entry: GatewayRouteEntry;
}

export function createGatewayRoutes(replica: Replica): GatewayRoutes {
  const byName = new Map<string, FoundRoute>();
  const rebuild = (): void => {
    byName.clear();
    for (const [id, entry] of replica.snapshot.entries("gateway_route"))
      byName.set(`${entry.account_id}/${entry.gateway_id}/${entry.name}`, { id, entry });
  };
  rebuild();
  replica.onApplied((ops) => {
    if (ops === null || ops.some(({ kind }) => kind === "gateway_route")) rebuild();
  });
  return { find: ({ account_id, gateway_id }, name) => byName.get(`${account_id}/${gateway_id}/${name}`) };
}
