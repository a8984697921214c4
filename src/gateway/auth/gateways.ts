import type { GatewayEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";

export interface Gateways {
  find(accountId: string, gatewayId: string): GatewayEntry | undefined;
}

/** The snapshot's own index suffices: gateways are entries under `{account_id}/{gateway_id}`. */
export function createGateways(replica: Replica): Gateways {
  return { find: (accountId, gatewayId) => replica.snapshot.get("gateway", `${accountId}/${gatewayId}`) };
}
