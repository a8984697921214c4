import { dirname, join } from "node:path";
import type { MessagePort } from "node:worker_threads";
import type { ClickHousePlace } from "#events/clickhouse/connection.ts";
import type { RetentionLimits } from "#events/retention/retention.ts";

/** `workerData` of events/write/writer.ts. Ports are transferred; later ones come by `{ type: "attach", port }`. */
export interface WriterData {
  /** File of the events database. */
  readonly path: string;
  readonly ports: readonly MessagePort[];
  readonly retention: RetentionLimits;
  /** The heartbeat of the main thread, which this thread watches. */
  readonly control?: SharedArrayBuffer;
  /** One Int32: not 0 once the process before this one has closed the database; absent: it is closed. */
  readonly mayOpen?: SharedArrayBuffer | undefined;
  /** ClickHouse has the rows of requests, security events and DNS queries; absent: this database does. */
  readonly clickHouse?: ClickHousePlace;
}

/** `workerData` of events/write/spool-writer.ts. */
export interface SpoolWriterData extends Omit<WriterData, "control"> {
  /** Takes batches for control, and returns its answers. */
  readonly uplink: MessagePort;
}

/** Rows that wait for ClickHouse. */
export const clickHouseSpoolOf = (eventsPath: string): string => join(dirname(eventsPath), "clickhouse-spool");

/** File that reserves room on the disk (disk-reserve.ts). */
export const reserveOf = (eventsPath: string): string => `${eventsPath}.reserve`;

export const DEFAULT_RETENTION: RetentionLimits = {
  ageMs: 30 * 86_400_000,
  bytes: 4 * 1024 ** 3,
  segmentBytes: 8 * 1024 ** 3,
  minutesAgeMs: 14 * 86_400_000,
  hoursAgeMs: 400 * 86_400_000,
};
