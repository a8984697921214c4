import type { Clock } from "#kernel/clock.ts";
import type { Codecs } from "#edge/compression/codecs.ts";
import type { EdgeCache } from "#edge/cache/cache.ts";
import type { EdgeLimits } from "#edge/config.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { HeldBodies } from "#edge/exchange/request-buffer.ts";
import type { RayField } from "#edge/http/ray-field.ts";
import type { OriginHeads } from "#edge/origin/origin-head.ts";
import type { OriginSelector } from "#edge/origin/origin.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Checked, Timers } from "#kernel/timers.ts";
import type { UpstreamPools } from "#edge/origin/upstream-pool.ts";

/** A visitor's connection, as the edge keeps count of it. */
export interface OpenConnection extends Checked {
  /** No further request: closes when idle, or after the response under way. */
  drain(): void;
  destroy(): void;
}

/** What every connection of a worker shares. */
export interface EdgeContext {
  readonly limits: EdgeLimits;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly pipeline: Pipeline;
  readonly origins: OriginSelector;
  readonly originHeads: OriginHeads;
  readonly pools: UpstreamPools;
  readonly cache: EdgeCache;
  readonly heldBodies: HeldBodies;
  readonly codecs: Codecs;
  readonly ray: RayField;
  /** Null: Node.js has every connection. */
  readonly loop: SocketLoop | null;
  readonly connections: Set<OpenConnection>;
  isDraining(): boolean;
  /** Writes the request row and the events of the rules that matched, once for each request. */
  record(exchange: Exchange): void;
  /** Counts what was thrown although nothing should be. */
  report(error: unknown): void;
}
