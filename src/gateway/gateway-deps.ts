import type { EventSink } from "#events/rows/rows.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import type { GatewayConfig } from "./config.ts";
import type { GatewayLogSink } from "#events/logs/entry.ts";
import type { Replica } from "#snapshot/feed.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Clock } from "#kernel/clock.ts";

export interface GatewayDeps {
  readonly replica: Replica;
  readonly events: EventSink;
  /** Takes the rows of accepted requests with their bodies; without it `events` takes the rows. */
  readonly logs?: GatewayLogSink;
  /** Opens what travels sealed; without one, keys that gateways keep cannot be used, and no answer is kept on disk. */
  readonly sealer?: Sealer | undefined;
  /** Null or absent: Node.js has every connection. */
  readonly socketCalls?: SocketCalls | null;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly config: GatewayConfig;
  /** Told when an account's default gateway is used that does not exist yet; without it there is none. */
  readonly onDefaultGateway?: (accountId: string, atMs: number) => void;
  /** Told of faults of our own, each of which cost one connection. */
  readonly onError?: (error: unknown) => void;
}
