import type { Exchange } from "#edge/exchange/exchange.ts";
import type { OriginPlan } from "#edge/exchange/decisions.ts";

/** Recognises DNS over HTTPS requests (RFC 8484), and knows the nameserver's address. */
export interface DohRoute {
  /** Null for other requests, or if the nameserver's port is unknown. */
  originOf(exchange: Pick<Exchange, "scheme" | "host" | "path">): OriginPlan | null;
  moveTo(port: number): void;
}

const PATH = "/dns-query";

export function createDohRoute(config: { readonly hosts: readonly string[]; readonly port: number }): DohRoute {
  const hosts = new Set(config.hosts.map((host) => host.toLowerCase()));
  const planAt = (port: number): OriginPlan | null => (port === 0 ? null : { addresses: ["127.0.0.1"], port, tls: null });
  let plan = planAt(config.port);
  return {
    originOf: ({ scheme, host, path }) => (path === PATH && scheme === "https" && hosts.has(host) ? plan : null),
    moveTo: (port) => {
      plan = planAt(port);
    },
  };
}
