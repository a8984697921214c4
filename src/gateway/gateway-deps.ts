import type { SecretMask } from "./logs/secret-mask.ts";
import type { EventSink } from "#events/rows/rows.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import type { GatewayConfig } from "./config.ts";
import type { GatewayLogSink } from "#events/logs/entry.ts";
import type { Replica } from "#snapshot/feed.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Clock } from "#kernel/clock.ts";

export interface GatewayDeps {
  readonly replica: Replica;
  readonly events: EventSink;
  /** Takes the rows of accepted requests with their bodies; without it `events` takes the rows. */
  readonly logs?: GatewayLogSink;
  /** Masks secrets in logs; without it, one is made. */
  readonly mask?: SecretMask;
  /** Decrypts sealed values; without it, stored keys cannot be used and no answer is stored on disk. */
  readonly sealer?: Sealer | undefined;
  /** Null or absent: Node.js handles every connection. */
  readonly socketCalls?: SocketCalls | null;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly config: GatewayConfig;
  /** Limits that other machines count, too; absent: there are none. */
  readonly sharedLimits?: SharedLimits;
  /** Called when an account uses its default gateway before it exists; without it accounts have no default gateway. */
  readonly onDefaultGateway?: (accountId: string, atMs: number) => void;
  /** Called with unexpected errors, each of which ended one connection. */
  readonly onError?: (error: unknown) => void;
}
