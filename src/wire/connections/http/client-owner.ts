import type { MessageTurns } from "#kernel/process/message-turns.ts";
import type { Checked, Timers } from "#kernel/timers.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import type { ClientDeadlineLimits } from "./client-deadlines.ts";

/** A client's connection, as its plane tracks it. */
export interface OpenConnection extends Checked {
  /** Tells the client that the connection ends soon, if its protocol can. Requests already sent are still answered. */
  announceEnd(): void;
  /** Accepts no further request: closes when idle, or after the current response. */
  drain(): void;
  destroy(): void;
}

/** Requests sent ahead, of all connections of a plane, that begin in a tick: others wait for these at most. */
export const REQUESTS_AHEAD_PER_TICK = 32;

/** The plane of client connections, as these see it. */
export interface ClientOwner {
  readonly timers: Timers;
  readonly deadlines: ClientDeadlineLimits;
  readonly connections: Set<OpenConnection>;
  /** For requests that a client sent ahead, before it had the response to the one before. */
  readonly turns: MessageTurns;
  isDraining(): boolean;
  /** Reports an unexpected exception, which costs one connection. */
  report(error: unknown): void;
  /**
   * Serves a connection that begins with the preface of HTTP/2 without TLS (RFC 9113 §3.3). If absent, such a connection
   * is refused.
   */
  readonly onHttp2?: (transport: Transport) => void;
}
