import { createLogTail, type LogPosition, type TailedLog } from "#events/logs/tail.ts";
import type { Clock } from "#kernel/clock.ts";
import type { LogOutput } from "#model/events/logpush.ts";
import { type BatchBounds, type LogBatch, readBatch } from "./batch.ts";
import { createLogEncryption, type LogEncryption, readLogKey } from "#control/gateways/log-encryption.ts";
import { createRecordWriter } from "./record.ts";

/** The specification of a batch; plain data, so that another thread can read it. */
export interface BatchOrder {
  /** Directory of the segments. */
  readonly directory: string;
  /** Null: start at logs of `since_ms`. */
  readonly from: LogPosition | null;
  readonly account_id: string;
  readonly since_ms: number;
  /** Gateways whose logs are pushed. */
  readonly gateways: readonly PushedGateway[];
  readonly output: LogOutput | null;
  readonly bounds: BatchBounds;
}

export interface PushedGateway {
  readonly id: string;
  /** Older rows belong to an earlier gateway with the id. */
  readonly since_ms: number;
  /** PEM. */
  readonly public_key: string | null;
}

export type ReadOrderedBatch = (order: BatchOrder) => Promise<LogBatch>;

/** Reads batches in the calling thread. */
export const batchReader =
  (clock: Clock): ReadOrderedBatch =>
  async ({ directory, from, account_id, since_ms, gateways, output, bounds }) => {
    const tail = createLogTail(directory);
    const record = createRecordWriter(output);
    const pushed = new Map(gateways.map((gateway) => [gateway.id, { since_ms: gateway.since_ms, encryption: encryptionOf(gateway) }]));
    const write = (log: TailedLog): string | undefined => {
      if (log.row.account_id !== account_id) return undefined;
      const gateway = pushed.get(log.row.gateway_id);
      if (gateway === undefined || log.row.at_ms < Math.max(gateway.since_ms, since_ms)) return undefined;
      return record(log, gateway.encryption);
    };
    return readBatch({ tail, clock, write }, from ?? tail.start(since_ms), bounds);
  };

/** Throws on an invalid key, so that nothing is sent unencrypted that should be encrypted. */
function encryptionOf({ id, public_key }: PushedGateway): LogEncryption | undefined {
  if (public_key === null) return undefined;
  const key = readLogKey(public_key);
  if (key === undefined) throw new Error(`the public key of the gateway ${id} is not valid`);
  return createLogEncryption(key);
}
