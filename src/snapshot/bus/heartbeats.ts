import type { KeyObject } from "node:crypto";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import { type BusHead, encodeHead, type FullName, HEAD, type Place } from "./bus-message.ts";
import { releasedCopy, type Rollout } from "./rollout.ts";

/** Says on the bus how far the changes are, so that a node sees what it lost. */
export interface Heartbeats {
  now(): void;
  /** After a change. */
  soon(): void;
  stop(): void;
}

export interface HeartbeatsDeps {
  readonly connection: NatsConnection;
  readonly key: KeyObject;
  readonly clock: Pick<Clock, "nowMs">;
  readonly rollout: Rollout | undefined;
  /** The last change and the full copies, the newest first; null while this process does not publish. */
  state(): { readonly place: Place; readonly copies: readonly FullName[] } | null;
}

/** Changes within this time share a heartbeat: each one costs every node a check of a signature. */
const SOON_MS = 100;

export function createHeartbeats({ connection, key, clock, rollout, state }: HeartbeatsDeps): Heartbeats {
  let beatenAt = 0;
  let next: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(next);
    next = undefined;
  };
  const now = (): void => {
    stop();
    const newest = state();
    if (newest === null || connection.isClosed()) return;
    const { place, copies } = newest;
    const held = rollout?.current() ?? null;
    beatenAt = Math.max(beatenAt + 1, clock.nowMs());
    const head: BusHead = {
      ...place,
      time: beatenAt,
      full: copies[0] ?? null,
      ...(held === null ? {} : { rollout: { ...held, full: releasedCopy(rollout, copies) } }),
    };
    connection.publish(HEAD, encodeHead(head, key));
  };
  return {
    now,
    soon: () => {
      // In a rollout, nodes follow no further than a heartbeat says.
      if ((rollout?.current() ?? null) !== null) now();
      else next ??= setTimeout(now, SOON_MS);
    },
    stop,
  };
}
