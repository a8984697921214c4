import type { MetricSample } from "#kernel/process/metrics.ts";
import type { LeveledLog, LoggedError } from "#app/log/log.ts";
import type { Planes } from "#app/planes/planes-deps.ts";
import { planeStates } from "./server-health.ts";

/** The answer to the first questions about a running server. */
export interface ServerStatus {
  readonly planes: readonly { readonly name: string; readonly status: string }[];
  /** Nodes by their status; empty without nodes. */
  readonly nodes: Readonly<Record<string, number>>;
  /** Lengths of queues, without the empty ones. */
  readonly waiting: Readonly<Record<string, number>>;
  /** Oldest first. */
  readonly last_errors: readonly LoggedError[];
}

/** Metrics of queues. */
const QUEUES: Readonly<Record<string, string>> = {
  event_rows: "selvedge_events_waiting_rows",
  bytes_for_control: "selvedge_events_spool_bytes",
  bytes_for_clickhouse: "selvedge_events_clickhouse_spool_bytes",
};

export interface ServerStatusDeps {
  readonly log: LeveledLog;
  readonly planes: Pick<Planes, "workers" | "idle">;
  samples(): Promise<readonly MetricSample[]>;
  nodes(): Promise<readonly { readonly status: string }[]>;
}

export async function serverStatus({ log, planes, samples, nodes }: ServerStatusDeps): Promise<ServerStatus> {
  // While the database cannot be used, its nodes are not known.
  const [states, all, known] = await Promise.all([planeStates(planes), samples(), nodes().catch(() => [])]);
  const waiting = Object.entries(QUEUES).flatMap(([queue, metric]) => {
    const length = all.filter(({ name }) => name === metric).reduce((sum, { value }) => sum + value, 0);
    return length === 0 ? [] : [[queue, length] as const];
  });
  const byStatus = [...Map.groupBy(known, ({ status }) => status)].map(([status, some]) => [status, some.length] as const);
  return { planes: states, nodes: Object.fromEntries(byStatus), waiting: Object.fromEntries(waiting), last_errors: log.lastErrors() };
}
