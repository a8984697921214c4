import { connect } from "node:net";
import { LinkedList } from "#kernel/linked-list.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { EdgeLimits } from "#edge/config.ts";
import type { OriginHealth } from "./origin-health.ts";
import { isGood, originKey, type OriginTlsClient } from "./origin-tls.ts";
import type { OriginTls } from "#edge/exchange/decisions.ts";
import { type EdgeTunnels, TUNNEL_PORT } from "#edge/tunnels/edge-tunnels.ts";
import { createStalledExchanges } from "#edge/limits/slow-clients.ts";
import { dialThroughLoop } from "#wire/connections/epoll/loop-socket.ts";
import { dialThroughNode } from "#wire/connections/transport/node-transport.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { UpstreamConnection, type UpstreamOwner } from "#wire/connections/http/upstream-connection.ts";

/** Waits for a connection. */
export interface UpstreamTaker {
  onUpstream(connection: UpstreamConnection): void;
  /** The queue is full, or waiting took too long. */
  onOverload(): void;
}

/** A place in the queue for a connection. */
export interface Waiting {
  /** Leaves the queue. */
  cancel(): void;
}

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

type PoolDeps = Pick<UpstreamOwner, "timers" | "report"> & {
  readonly tunnels: Pick<EdgeTunnels, "dial"> | null;
  /** Null: Node.js dials. */
  readonly loop: SocketLoop | null;
  readonly limits: EdgeLimits;
  readonly health: OriginHealth;
  readonly tlsClient: OriginTlsClient;
  readonly metrics: MetricRegistry;
};

export function createUpstreamPools(deps: PoolDeps): UpstreamPools {
  // Two levels, port and address: a joined key would be built and hashed for each request.
  const plain = new Map<number, Map<string, Pool>>();
  const secure = new Map<string, Pool>();
  let closing = false;
  const each = (act: (pool: Pool) => void): void => {
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

  const plainPool = (address: string, port: number): Pool => {
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
      pools.set(address, (pool = createPool(deps, { ...shared, key: originKey(address, port, null), tls: null, dial, onEmpty })));
    }
    return pool;
  };

  const securePool = (address: string, port: number, tls: OriginTls): Pool => {
    const key = originKey(address, port, tls);
    let pool = secure.get(key);
    if (pool === undefined) {
      const dial: Dial = () => dialThroughNode((onread) => deps.tlsClient.connect(address, port, tls, onread));
      const onEmpty = (): void => void secure.delete(key);
      secure.set(key, (pool = createPool(deps, { ...shared, key, tls, dial, onEmpty })));
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

type Dial = UpstreamOwner["dial"];

interface Pool {
  acquire(taker: UpstreamTaker, fresh: boolean): Waiting | null;
  check(nowMs: number): void;
  close(): void;
}

interface PoolSpec {
  readonly key: string;
  /** Null: plain TCP. */
  readonly tls: OriginTls | null;
  readonly dial: Dial;
  readonly idleAnywhere: LinkedList<UpstreamConnection>;
  readonly openConnections: Metric;
  readonly stalledEnded: Metric;
  isClosing(): boolean;
  /** Called when the last connection has closed. */
  onEmpty(): void;
}

interface Waiter {
  readonly taker: UpstreamTaker;
  readonly sinceMs: number;
}

/** The connections to one origin. */
function createPool(deps: PoolDeps, spec: PoolSpec): Pool {
  const { limits, timers, health } = deps;
  const { key, tls, dial, isClosing, idleAnywhere, openConnections, stalledEnded, onEmpty } = spec;
  const idle: UpstreamConnection[] = [];
  /** In order of arrival. */
  const waiting = new Set<Waiter>();
  /** Without tunnels, which may stay open for hours, one per visitor; the limit is for requests. */
  const counted = new Set<UpstreamConnection>();
  const stalled = createStalledExchanges<UpstreamConnection>();

  const open = (): UpstreamConnection => {
    openConnections.value++;
    const connection = new UpstreamConnection(owner);
    counted.add(connection);
    return connection;
  };
  const nextWaiter = (): UpstreamTaker | null => {
    for (const waiter of waiting) {
      waiting.delete(waiter);
      return waiter.taker;
    }
    return null;
  };
  const giveUpPlace = (connection: UpstreamConnection): void => {
    if (!counted.delete(connection)) return;
    const next = nextWaiter();
    if (next !== null) next.onUpstream(open());
    else if (counted.size === 0) onEmpty();
  };
  const owner: UpstreamOwner = {
    ...deps,
    isSecure: tls !== null,
    isTrusted: (socket) => tls !== null && isGood(socket, tls),
    dial,
    connected: () => health.worked(key),
    notConnected: (fault) => health.failed(key, fault),
    released: (connection) => {
      const next = nextWaiter();
      if (next !== null) next.onUpstream(connection);
      else if (isClosing()) connection.abort();
      else keep(connection);
    },
    switched: giveUpPlace,
    closed: (connection) => {
      openConnections.value--;
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
      idleAnywhere.remove(connection);
      giveUpPlace(connection);
    },
  };

  const keep = (connection: UpstreamConnection): void => {
    idle.push(connection);
    idleAnywhere.add(connection);
    if (idleAnywhere.size > limits.originIdleMax) idleAnywhere.first?.abort();
  };

  /** Frees places for requests that have waited long enough, by ending exchanges with stalled visitors. */
  const endStalled = (nowMs: number): void => {
    if (waiting.size === 0) return stalled.forget();
    stalled.observe(counted, nowMs);
    let wanted = 0;
    for (const { sinceMs } of waiting) if (nowMs - sinceMs >= limits.originStallMs) wanted++;
    if (wanted === 0) return;
    for (const connection of stalled.worst(wanted, nowMs, limits.originStallMs)) {
      stalledEnded.value++;
      // The visitor occupies a place that others wait for.
      connection.giveUp("visitor_stalled");
    }
  };

  const wait = (taker: UpstreamTaker): Waiting | null => {
    if (waiting.size >= limits.originQueueMax) {
      taker.onOverload();
      return null;
    }
    const waiter = { taker, sinceMs: timers.nowMs };
    waiting.add(waiter);
    return { cancel: () => void waiting.delete(waiter) };
  };

  return {
    acquire: (taker, fresh) => {
      // The most recently used one is the least likely to be closed already.
      const ready = fresh ? undefined : idle.at(-1);
      if (ready !== undefined && !ready.isOverdue(timers.measureMs())) {
        idle.pop();
        idleAnywhere.remove(ready);
        taker.onUpstream(ready);
        return null;
      }
      if (counted.size < limits.originConnectionsMax) {
        taker.onUpstream(open());
        return null;
      }
      const place = wait(taker);
      // A fresh connection was wanted: one that is idle makes room for it.
      idle.shift()?.abort();
      return place;
    },
    check: (nowMs) => {
      for (const waiter of waiting) {
        if (nowMs - waiter.sinceMs <= limits.connectTimeoutMs) break;
        waiting.delete(waiter);
        waiter.taker.onOverload();
      }
      endStalled(nowMs);
    },
    close: () => {
      for (const connection of Array.from(idle)) connection.abort();
    },
  };
}
