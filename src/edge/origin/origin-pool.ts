import type { LinkedList } from "#kernel/linked-list.ts";
import type { Metric } from "#kernel/process/metrics.ts";
import type { EdgeLimits } from "#edge/config.ts";
import type { OriginTls } from "#edge/exchange/decisions.ts";
import { createStalledExchanges } from "#edge/limits/slow-clients.ts";
import { UpstreamConnection, type UpstreamOwner } from "#wire/connections/http/upstream-connection.ts";
import type { OriginHealth } from "./origin-health.ts";
import { isGood } from "./origin-tls.ts";

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

export type OriginPoolDeps = Pick<UpstreamOwner, "timers" | "report"> & {
  readonly limits: EdgeLimits;
  readonly health: OriginHealth;
};

export type Dial = UpstreamOwner["dial"];

export interface OriginPool {
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
export function createOriginPool(deps: OriginPoolDeps, spec: PoolSpec): OriginPool {
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
