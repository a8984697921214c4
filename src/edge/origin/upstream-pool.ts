import { connect } from "node:net";
import { LinkedList } from "#kernel/linked-list.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { createOriginPool, type Dial, type OriginPool, type OriginPoolDeps, type UpstreamTaker, type Waiting } from "./origin-pool.ts";
import { originKey, type OriginTlsClient } from "./origin-tls.ts";
import type { OriginTls } from "#edge/exchange/decisions.ts";
import { type EdgeTunnels, TUNNEL_PORT } from "#edge/tunnels/edge-tunnels.ts";
import { dialThroughLoop } from "#wire/connections/epoll/loop-socket.ts";
import { dialThroughNode } from "#wire/connections/transport/node-transport.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { UpstreamConnection } from "#wire/connections/http/upstream-connection.ts";

/** Connections to origins, kept open between requests. Connections to one address are shared only with the same TLS settings. */
export interface UpstreamPools {
  /**
   * Calls back at once if a connection is idle or may be opened; otherwise returns a place in the queue. `fresh`: never
   * an idle one. With TUNNEL_PORT, the address is a tunnel's id.
   */
  acquire(address: string, port: number, tls: OriginTls | null, taker: UpstreamTaker, fresh: boolean): Waiting | null;
  /** Closes idle connections; those in use close after their response. */
  close(): void;
}

type PoolsDeps = OriginPoolDeps & {
  readonly tunnels: Pick<EdgeTunnels, "dial"> | null;
  /** Null: Node.js dials. */
  readonly loop: SocketLoop | null;
  readonly tlsClient: OriginTlsClient;
  readonly metrics: MetricRegistry;
};

export function createUpstreamPools(deps: PoolsDeps): UpstreamPools {
  // Two levels, port and address: a joined key would be built and hashed for each request.
  const plain = new Map<number, Map<string, OriginPool>>();
  const secure = new Map<string, OriginPool>();
  let closing = false;
  const each = (act: (pool: OriginPool) => void): void => {
    for (const pools of plain.values()) for (const pool of pools.values()) act(pool);
    for (const pool of secure.values()) act(pool);
  };
  const isClosing = (): boolean => closing;
  /** Idle connections of all pools, the longest idle first. */
  const idleAnywhere = new LinkedList<UpstreamConnection>();
  const openConnections = deps.metrics.gauge("selvedge_edge_origin_connections", "Open connections to origins");
  const stalledEnded = deps.metrics.counter(
    "selvedge_edge_slow_clients_closed_total",
    "Exchanges closed because a slow visitor blocked requests waiting for the origin",
  );
  const shared = { isClosing, idleAnywhere, openConnections, stalledEnded };

  const plainPool = (address: string, port: number): OriginPool => {
    let pools = plain.get(port);
    if (pools === undefined) plain.set(port, (pools = new Map()));
    let pool = pools.get(address);
    if (pool === undefined) {
      const { tunnels } = deps;
      const dial: Dial =
        tunnels !== null && port === TUNNEL_PORT
          ? () => tunnels.dial(address)
          : () =>
              (deps.loop === null ? undefined : dialThroughLoop(deps.loop, address, port)) ??
              dialThroughNode((onread) => connect({ host: address, port, noDelay: true, allowHalfOpen: true, onread }));
      const onEmpty = (): void => {
        pools.delete(address);
        if (pools.size === 0) plain.delete(port);
      };
      pools.set(address, (pool = createOriginPool(deps, { ...shared, key: originKey(address, port, null), tls: null, dial, onEmpty })));
    }
    return pool;
  };

  const securePool = (address: string, port: number, tls: OriginTls): OriginPool => {
    const key = originKey(address, port, tls);
    let pool = secure.get(key);
    if (pool === undefined) {
      const dial: Dial = () => dialThroughNode((onread) => deps.tlsClient.connect(address, port, tls, onread));
      const onEmpty = (): void => void secure.delete(key);
      secure.set(key, (pool = createOriginPool(deps, { ...shared, key, tls, dial, onEmpty })));
    }
    return pool;
  };

  deps.timers.add({ check: (nowMs) => each((pool) => pool.check(nowMs)) });
  return {
    acquire: (address, port, tls, taker, fresh) =>
      (tls === null ? plainPool(address, port) : securePool(address, port, tls)).acquire(taker, fresh),
    close: () => {
      closing = true;
      each((pool) => pool.close());
    },
  };
}
