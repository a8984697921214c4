import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "#kernel/clock.ts";

export interface IdleLimits {
  /** Time that a connection may be without a request. Empty lines do not count as one (RFC 9112 §2.2). */
  readonly idleMs: number;
  /** Time that a client may leave a response unread. */
  readonly unreadMs: number;
}

export interface IdleConnections {
  /** Must be called for each connection, then for each request. */
  opened(socket: Socket): void;
  requested(request: IncomingMessage, response: ServerResponse): void;
  /** Closes connections over a limit; must be called every few seconds. */
  sweep(): void;
}

interface Use {
  requests: number;
  /** End of its last request. */
  sinceMs: number;
  /** Bytes that the client has read, and the time since it has read no more. */
  taken: number;
  takenMs: number;
}

/**
 * Closes connections without a request, and those whose client reads nothing. The HTTP server's own timers restart with
 * each byte that arrives or is written, so an empty line every few seconds would keep a connection open.
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
