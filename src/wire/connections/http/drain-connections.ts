import type { OpenConnection } from "./client-owner.ts";

const POLL_MS = 20;

/**
 * Ends the connections of a plane that drains: each after its present response, idle ones after `idleMs`. A client cannot
 * know that its idle connection is about to close, so that a request sent at that moment would be lost.
 */
export async function drainConnections(connections: ReadonlySet<OpenConnection>, idleMs: number): Promise<void> {
  if (idleMs > 0) {
    for (const connection of Array.from(connections)) connection.announceEnd();
    await untilEmpty(connections, idleMs);
  }
  for (const connection of Array.from(connections)) connection.drain();
}

/** Resolves when nothing is left, or after the time. */
export async function untilEmpty(connections: ReadonlySet<unknown>, timeoutMs: number): Promise<void> {
  for (let waitedMs = 0; connections.size > 0 && waitedMs < timeoutMs; waitedMs += POLL_MS)
    await new Promise((done) => setTimeout(done, POLL_MS));
}
