import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connectionsOf, type FurtherListener } from "#kernel/process/further-listener.ts";

/** A listener that closes once it has answered everything. */
export interface ClosableHttp {
  readonly server: Server;
  /** Its other addresses. */
  readonly further?: () => readonly FurtherListener[];
  close(): PromiseLike<unknown>;
}

const LOOK_EVERY_MS = 100;

/**
 * Lets requests in progress finish within the time. Connections that clients keep open after the responses, for a
 * minute and more, are closed once they are idle: a closing server only closes those that are idle at that moment. With
 * `idleMs` (see DrainTimes), idle connections have that time for one more request.
 */
export async function closeHttp({ server, further = () => [], close }: ClosableHttp, drainMs: number, idleMs = 0): Promise<void> {
  const isStopped = idleMs > 0 && server.listening;
  if (isStopped) await lastRequests(server, further(), idleMs);
  const looking = setInterval(() => server.closeIdleConnections(), LOOK_EVERY_MS);
  const limit = setTimeout(() => server.closeAllConnections(), drainMs);
  try {
    await Promise.all([close(), ...further().map((listener) => listener.close())]);
  } catch (error) {
    if (!isStopped || (error as NodeJS.ErrnoException).code !== "ERR_SERVER_NOT_RUNNING") throw error;
  } finally {
    clearInterval(looking);
    clearTimeout(limit);
  }
}

/** Accepts no more connections, and keeps the open ones for a last request. */
async function lastRequests(server: Server, further: readonly FurtherListener[], idleMs: number): Promise<void> {
  server.prependListener("request", (_req, res) => {
    res.shouldKeepAlive = false;
  });
  // The method of HTTP servers would close idle connections.
  TcpServer.prototype.close.call(server);
  for (const listener of further) void listener.close();
  const open = async (): Promise<number> => {
    const counts = await Promise.all([connectionsOf(server), ...further.map((listener) => listener.connections())]);
    return counts.reduce((sum, count) => sum + count);
  };
  for (let waitedMs = 0; waitedMs < idleMs && (await open()) > 0; waitedMs += LOOK_EVERY_MS) await delay(LOOK_EVERY_MS);
}
