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

type PoolDeps = Pick<UpstreamOwner, "limits" | "timers" | "report">;

export function createUpstreamPools(deps: PoolDeps): UpstreamPools {
  // By port and then by address: a joined key would be built and hashed for each request.
  const byPort = new Map<number, Map<string, Pool>>();
  const each = (act: (pool: Pool) => void): void => {
    for (const pools of byPort.values()) for (const pool of pools.values()) act(pool);
  };
  deps.timers.add({ check: (nowMs) => each((pool) => pool.check(nowMs)) });
  return {
    acquire: (address, port, taker, fresh) => {
      let pools = byPort.get(port);
      if (pools === undefined) byPort.set(port, (pools = new Map()));
      let pool = pools.get(address);
      if (pool === undefined) pools.set(address, (pool = createPool(deps, address, port, () => byPort.get(port)?.delete(address))));
      pool.acquire(taker, fresh);
    },
    forget: (taker) => each((pool) => pool.forget(taker)),
    close: () => each((pool) => pool.close()),
  };
}

interface Pool {
  acquire(taker: UpstreamTaker, fresh: boolean): void;
  forget(taker: UpstreamTaker): void;
  check(nowMs: number): void;
  close(): void;
}

/** The connections to one address and port. `onEmpty` is called when the last one closed. */
function createPool(deps: PoolDeps, address: string, port: number, onEmpty: () => void): Pool {
  const { limits, timers } = deps;
  const idle: UpstreamConnection[] = [];
  let waiting: { readonly taker: UpstreamTaker; readonly sinceMs: number }[] = [];
  let total = 0;
  let closing = false;

  const open = (): UpstreamConnection => {
    total++;
    return new UpstreamConnection(owner, address, port);
  };
  const owner: UpstreamOwner = {
    ...deps,
    released: (connection) => {
      const next = waiting.shift();
      if (next !== undefined) next.taker.onUpstream(connection);
      else if (closing) connection.abort();
      else idle.push(connection);
    },
    closed: (connection) => {
      total--;
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
      const next = waiting.shift();
      if (next !== undefined) next.taker.onUpstream(open());
      else if (total === 0) onEmpty();
    },
  };
  return {
    acquire: (taker, fresh) => {
      // The last one used is the least likely to be closed already.
      const ready = fresh ? undefined : idle.pop();
      if (ready !== undefined) taker.onUpstream(ready);
      else if (total < limits.originConnectionsMax) taker.onUpstream(open());
      else if (waiting.length < limits.originQueueMax) waiting.push({ taker, sinceMs: timers.nowMs });
      else taker.onOverload();
    },
    forget: (taker) => {
      waiting = waiting.filter((entry) => entry.taker !== taker);
    },
    check: (nowMs) => {
      while (waiting.length > 0 && nowMs - waiting[0]!.sinceMs > limits.connectTimeoutMs) waiting.shift()!.taker.onOverload();
    },
    close: () => {
      closing = true;
      for (const connection of Array.from(idle)) connection.abort();
    },
  };
}
