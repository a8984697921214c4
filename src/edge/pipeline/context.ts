import type { Clock } from "#kernel/clock.ts";
import type { ClientAddresses } from "#kernel/net/client-addresses.ts";
import type { Codecs } from "#edge/compression/codecs.ts";
import type { Minifier } from "#edge/minify/minifier.ts";
import type { EdgeCache } from "#edge/cache/cache.ts";
import type { Http2Owner } from "#wire/connections/http/http2-connection.ts";
import type { EdgeLimits } from "#edge/config.ts";
import type { WindowBudget } from "#wire/http2/window-budget.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { RequestBuffers } from "#edge/exchange/request-buffer.ts";
import type { RayField } from "#edge/http/ray-field.ts";
import type { OriginHeads } from "#edge/origin/origin-head.ts";
import type { OriginSelector } from "#edge/origin/origin.ts";
import type { Pipeline } from "./pipeline.ts";
import type { UpstreamPools } from "#edge/origin/upstream-pool.ts";

/** State that all connections of a worker share. */
export interface EdgeContext extends Http2Owner {
  readonly limits: EdgeLimits;
  readonly clock: Clock;
  /** Visitors behind trusted proxies; null without such proxies. */
  readonly visitors: ClientAddresses | null;
  readonly pipeline: Pipeline;
  readonly origins: OriginSelector;
  readonly originHeads: OriginHeads;
  readonly pools: UpstreamPools;
  readonly cache: EdgeCache;
  readonly heldBodies: RequestBuffers;
  readonly codecs: Codecs;
  readonly minifier: Pick<Minifier, "close">;
  readonly ray: RayField;
  /** Null if Node.js handles all connections. */
  readonly loop: SocketLoop | null;
  /** For windows of HTTP/2 uploads. */
  readonly windows: WindowBudget;
  /** Writes the request row and the events of matched rules; called once per request. */
  record(exchange: Exchange): void;
}
