import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";

/** Host names that belong to gateways. */
export interface GatewayDomains {
  /**
   * The target under the gateway's own address: `/openai/models` for `ai.example.com` gives
   * `/v1/{account_id}/{gateway_id}/openai/models`. Targets for other hosts stay unchanged.
   */
  completed(host: string | undefined, target: string): string;
  /** Whether the Host field names a gateway. */
  has(host: string): boolean;
}

export function createGatewayDomains(replica: Replica): GatewayDomains {
  const prefixes = new Map<string, string>();
  followKind(replica, "gateway_domain", {
    clear: () => prefixes.clear(),
    put: (host, { account_id, gateway_id }) => void prefixes.set(host, `/v1/${account_id}/${gateway_id}`),
    remove: (host) => void prefixes.delete(host),
  });
  const prefixOf = (host: string): string | undefined => prefixes.get(host.replace(/\.?(?::\d*)?$/, "").toLowerCase());
  return {
    has: (host) => prefixes.size > 0 && prefixOf(host) !== undefined,
    completed: (host, target) => {
      // Most installations have no such names, and every request gets here.
      if (prefixes.size === 0 || host === undefined) return target;
      const prefix = prefixOf(host);
      return prefix === undefined || isBelow(target, prefix) ? target : prefix + target;
    },
  };
}

/**
 * Clients that were set up with the gateway's whole path may use it under the name too; paths of other gateways are not
 * accepted.
 */
const isBelow = (target: string, prefix: string): boolean => target.startsWith(prefix) && /^(?:[/?]|$)/.test(target.slice(prefix.length));
