import type { Server } from "node:http";

/** What listens, and closes once it has answered everything. */
export interface ClosableHttp {
  readonly server: Pick<Server, "closeIdleConnections" | "closeAllConnections">;
  close(): PromiseLike<unknown>;
}

const LOOK_EVERY_MS = 100;

/**
 * Lets requests under way finish within the time. Connections that clients keep open behind the answers, for a minute and more, are
 * closed once they are idle: a server that closes does so with those that are idle at that moment alone.
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
