import type { Server } from "node:http";
import { Server as TcpServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connectionsOf, type FurtherListener } from "#kernel/process/further-listener.ts";

/** A listener that closes once it has answered everything. */
export interface ClosableHttp {
  readonly server: Server;
  /** Its other addresses. */
  readonly further?: () => readonly FurtherListener[];
  close(): PromiseLike<unknown>;
  /** Its open connections; see trackConnections. */
  readonly connections?: ReadonlySet<Socket>;
}

const LOOK_EVERY_MS = 100;
/** A reader that takes nothing of its answer for so many looks waits for nobody's sake. */
const STALLED_LOOKS_MAX = 20;

/**
 * The open connections of a server, from now on. Node.js takes those for idle whose answers wait in memory for their readers; the server
 * closes no idle ones while there are such.
 */
export function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  const add = (socket: Socket): void => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  };
  server.on("connection", add);
  // Over TLS, the answer waits in the socket of TLS.
  server.on("secureConnection", add);
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (![...open].some((socket) => socket.writableLength > 0)) closeIdle();
  };
  return open;
}

/**
 * Lets requests in progress finish within the time. Connections that clients keep open after the responses, for a
 * minute and more, are closed once they are idle: a closing server only closes those that are idle at that moment. Those
 * of readers that do not take their answers are closed as well. With `idleMs` (see DrainTimes), idle connections have that
 * time for one more request.
 */
export async function closeHttp(
  { server, further = () => [], close, connections = new Set() }: ClosableHttp,
  drainMs: number,
  idleMs = 0,
): Promise<void> {
  const endStalled = createStallCheck(connections);
  const isStopped = idleMs > 0 && server.listening;
  if (isStopped) await lastRequests(server, further(), idleMs);
  const looking = setInterval(() => {
    server.closeIdleConnections();
    endStalled();
  }, LOOK_EVERY_MS);
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

/** Called at each look, ends the connections of which the client has taken nothing for too many looks. */
function createStallCheck(connections: ReadonlySet<Socket>): () => void {
  const seen = new Map<Socket, { readonly waiting: number; readonly written: number; readonly looks: number }>();
  return () => {
    for (const socket of connections) {
      const [waiting, written] = [queuedOf(socket), socket.bytesWritten];
      const before = seen.get(socket);
      const isStalled = waiting > 0 && before?.waiting === waiting && before.written === written;
      const looks = isStalled ? before.looks + 1 : 0;
      if (looks < STALLED_LOOKS_MAX) seen.set(socket, { waiting, written, looks });
      else socket.destroy();
    }
  };
}

/** Bytes for the client, those of a write that the kernel has taken in part without the part. */
const queuedOf = (socket: Socket): number => {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize || socket.writableLength;
};

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
