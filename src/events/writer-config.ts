import type { MessagePort } from "node:worker_threads";
import type { RetentionLimits } from "./retention.ts";

/** `workerData` of events/writer.ts. Ports are transferred; more come by `{ type: "attach", port }`. */
export interface WriterData {
  /** File of the events database. */
  readonly path: string;
  readonly ports: readonly MessagePort[];
  readonly retention: RetentionLimits;
}

export const DEFAULT_RETENTION: RetentionLimits = { ageMs: 30 * 86_400_000, bytes: 4 * 1024 ** 3 };
