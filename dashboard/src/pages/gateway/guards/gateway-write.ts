import type { Gateway, GatewayUpdate } from "#model/gateways/gateway.ts";
import type { Write } from "../../../api/hooks.ts";

/** A change of some settings of a gateway: the API wants these five with every change, and keeps the others. */
export function gatewayWrite(base: string, gateway: Gateway, change: Partial<GatewayUpdate>): Write {
  const { cache_invalidate_on_update, cache_ttl, collect_logs, rate_limiting_interval, rate_limiting_limit } = gateway;
  const kept = { cache_invalidate_on_update, cache_ttl, collect_logs, rate_limiting_interval, rate_limiting_limit };
  return { method: "PUT", path: base, body: { ...kept, ...change } };
}
