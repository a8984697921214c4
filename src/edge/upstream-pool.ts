import { UpstreamConnection, type UpstreamOwner } from "./upstream-connection.ts";

/** Who waits for a connection. */
export interface UpstreamTaker {
  onUpstream(connection: UpstreamConnection): void;
  /** The queue is full, or waiting took too long. */
  onOverload(): void;
}

/** Connections to origins by address and port, kept open between requests. */
export interface UpstreamPools {
  /** Calls back at once where a connection is idle or may be opened. `fresh` never gives an idle one. */
  acquire(address: string, port: number, taker: UpstreamTaker, fresh: boolean): void;
  /** Ends the waiting of a taker who went away. */
  forget(taker: UpstreamTaker): void;
  /** Closes idle connections; those in use close when their response ends. */
  close(): void;
}

interface Pool {
  readonly idle: UpstreamConnection[];
  readonly waiting: { readonly taker: UpstreamTaker; readonly sinceMs: number }[];
  total: number;
}

export function createUpstreamPools(deps: Pick<UpstreamOwner, "limits" | "timers" | "report">): UpstreamPools {
  const { limits, timers } = deps;
  const pools = new Map<string, Pool>();
  let closing = false;

  const open = (key: string, pool: Pool, address: string, port: number): UpstreamConnection => {
    pool.total++;
    const owner: UpstreamOwner = {
      ...deps,
      released: (connection) => {
        const next = pool.waiting.shift();
        if (next !== undefined) next.taker.onUpstream(connection);
        else if (closing) connection.abort();
        else pool.idle.push(connection);
      },
      closed: (connection) => {
        pool.total--;
        const at = pool.idle.indexOf(connection);
        if (at >= 0) pool.idle.splice(at, 1);
        const next = pool.waiting.shift();
        if (next !== undefined) next.taker.onUpstream(open(key, pool, address, port));
        else if (pool.total === 0) pools.delete(key);
      },
    };
    return new UpstreamConnection(owner, address, port);
  };

  timers.add({
    check: (nowMs) => {
      for (const pool of pools.values()) {
        while (pool.waiting.length > 0 && nowMs - pool.waiting[0]!.sinceMs > limits.connectTimeoutMs)
          pool.waiting.shift()!.taker.onOverload();
      }
    },
  });

  return {
    acquire: (address, port, taker, fresh) => {
      const key = `${address} ${port}`;
      let pool = pools.get(key);
      if (pool === undefined) pools.set(key, (pool = { idle: [], waiting: [], total: 0 }));
      // The last one used is the least likely to be closed already.
      const idle = fresh ? undefined : pool.idle.pop();
      if (idle !== undefined) taker.onUpstream(idle);
      else if (pool.total < limits.originConnectionsMax) taker.onUpstream(open(key, pool, address, port));
      else if (pool.waiting.length < limits.originQueueMax) pool.waiting.push({ taker, sinceMs: timers.nowMs });
      else taker.onOverload();
    },
    forget: (taker) => {
      for (const pool of pools.values()) {
        const at = pool.waiting.findIndex((entry) => entry.taker === taker);
        if (at >= 0) pool.waiting.splice(at, 1);
      }
    },
    close: () => {
      closing = true;
      for (const pool of pools.values()) for (const connection of [...pool.idle]) connection.abort();
    },
  };
}
