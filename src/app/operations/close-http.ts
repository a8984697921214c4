import type { Server } from "node:http";

/** A listener that closes once it has answered everything. */
export interface ClosableHttp {
  readonly server: Pick<Server, "closeIdleConnections" | "closeAllConnections">;
  close(): PromiseLike<unknown>;
}

const LOOK_EVERY_MS = 100;

/**
 * Lets requests in progress finish within the time. Connections that clients keep open after the answers, for a minute
 * and more, are closed once they are idle: a closing server only closes those that are idle at that moment.
 */
export async function closeHttp({ server, close }: ClosableHttp, drainMs: number): Promise<void> {
  const looking = setInterval(() => server.closeIdleConnections(), LOOK_EVERY_MS);
  const limit = setTimeout(() => server.closeAllConnections(), drainMs);
  try {
    await close();
  } finally {
    clearInterval(looking);
    clearTimeout(limit);
  }
}
