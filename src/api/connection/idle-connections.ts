import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "#kernel/clock.ts";

export interface IdleLimits {
  /** How long a connection may have no request. Empty lines do not count as one (RFC 9112 §2.2). */
  readonly idleMs: number;
  /** How long a client may read nothing of a response. */
  readonly unreadMs: number;
}

export interface IdleConnections {
  /** To be told of each connection, then of each request. */
  opened(socket: Socket): void;
  requested(request: IncomingMessage, response: ServerResponse): void;
  /** Closes those over a limit; to be called every few seconds. */
  sweep(): void;
}

interface Use {
  requests: number;
  /** When its last request was over. */
  sinceMs: number;
  /** Bytes that the client has taken, and since when it has taken no more. */
  taken: number;
  takenMs: number;
}

/**
 * Closes connections without a request, and those whose client reads nothing. The HTTP server's own timers start again with each
 * byte that arrives or is written, so an empty line every few seconds would keep a connection open.
 */
export function createIdleConnections(clock: Pick<Clock, "monotonicMs">, limits: IdleLimits): IdleConnections {
  const uses = new Map<Socket, Use>();
  return {
    opened: (socket) => {
      const nowMs = clock.monotonicMs();
      uses.set(socket, { requests: 0, sinceMs: nowMs, taken: 0, takenMs: nowMs });
      socket.once("close", () => uses.delete(socket));
    },
    requested: (request, response) => {
      const use = uses.get(request.socket);
      if (use === undefined) return;
      use.requests += 1;
      response.once("close", () => {
        use.requests -= 1;
        use.sinceMs = clock.monotonicMs();
      });
    },
    sweep: () => {
      const nowMs = clock.monotonicMs();
      for (const [socket, use] of uses) {
        const taken = socket.bytesWritten - socket.writableLength;
        if (taken !== use.taken || socket.writableLength === 0) [use.taken, use.takenMs] = [taken, nowMs];
        const isIdle = use.requests === 0 && nowMs - use.sinceMs > limits.idleMs;
        if (isIdle || nowMs - use.takenMs > limits.unreadMs) socket.destroy();
      }
    },
  };
}
