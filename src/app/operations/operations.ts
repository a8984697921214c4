import type { FastifyInstance } from "fastify";
import type { Counter, Registry } from "prom-client";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { MetricSample } from "#kernel/process/metrics.ts";
import type { ServerStatus } from "./server-status.ts";

export interface OperationsDeps {
  /** Samples of every thread, the main one included. */
  samples(): Promise<readonly MetricSample[]>;
  /** Reasons why the server cannot serve; empty if it is ready. */
  notReady(): Promise<readonly string[]>;
  /** Notices for the operator although everything serves. */
  notices(): Promise<readonly string[]>;
  /** The parts of the server and what they wait for, for `selvedge status`. */
  status(): Promise<ServerStatus>;
}

/** Operational endpoints, by path. They need no credential: each listener decides who may call them. */
export type Operations = ReadonlyMap<string, () => Promise<OperationsAnswer>>;

export interface OperationsAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Loaded at the first request for metrics. */
type Library = typeof import("prom-client");

const LOOP_MEASURED_EVERY_MS = 100;

/**
 * `/livez` and `/healthz`: the process answers. `/readyz`: every plane serves. `/metrics`: Prometheus text with the
 * metrics of every thread. `/statusz`: see ServerStatus.
 */
export function createOperations(deps: OperationsDeps): Operations {
  const live = async (): Promise<OperationsAnswer> => json(200, { status: "ok" });
  let ofProcess: Registry | undefined;
  return new Map([
    ["/livez", live],
    ["/healthz", live],
    [
      "/readyz",
      async () => {
        const reasons = await deps.notReady();
        const notices = await deps.notices();
        const isReady = reasons.length === 0;
        return json(isReady ? 200 : 503, {
          status: isReady ? "ready" : "not ready",
          reasons,
          ...(notices.length === 0 ? {} : { notices }),
        });
      },
    ],
    ["/statusz", async () => json(200, await deps.status())],
    [
      "/metrics",
      async () => {
        const library = await import("prom-client");
        ofProcess ??= processMetrics(library);
        const planes = registryOf(library, await deps.samples());
        return { status: 200, type: ofProcess.contentType, body: `${await ofProcess.metrics()}\n${await planes.metrics()}` };
      },
    ],
  ]);
}

const json = (status: number, value: object): OperationsAnswer => ({
  status,
  type: "application/json; charset=utf-8",
  body: JSON.stringify(value),
});

/** The same at the API's port. `servesHere`: whether a caller with this Host field must be on this machine. */
export function addOperations(app: FastifyInstance, operations: Operations, servesHere: (host: string | undefined) => boolean): void {
  for (const [path, answer] of operations)
    app.get(path, async (request, reply) => {
      if (!servesHere(request.headers.host)) throw new PlatformError("operations_elsewhere");
      const { status, type, body } = await answer();
      return reply.code(status).type(type).send(body);
    });
}

/** Metrics of this process; those of the event loop are measured from the first request on. */
function processMetrics({ collectDefaultMetrics, Registry }: Library): Registry {
  const register = new Registry();
  // By default the delay of the event loop is measured a hundred times a second, which is most of the work of an idle
  // server.
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LOOP_MEASURED_EVERY_MS });
  // The library counts from now on, and these are totals of the process.
  const { user, system } = process.cpuUsage();
  const spent = [
    ["process_cpu_user_seconds_total", user],
    ["process_cpu_system_seconds_total", system],
    ["process_cpu_seconds_total", user + system],
  ] as const;
  for (const [name, micros] of spent) (register.getSingleMetric(name) as Counter).inc(micros / 1e6);
  return register;
}

/** Samples of one name from several threads are one metric, distinguished by labels. */
function registryOf({ Counter, Gauge, Registry }: Library, samples: readonly MetricSample[]): Registry {
  const registry = new Registry();
  for (const rows of Map.groupBy(samples, (sample) => sample.name).values()) {
    const [first] = rows;
    if (first === undefined) continue;
    const labelNames = [...new Set(rows.flatMap((row) => Object.keys(row.labels)))];
    const options = { name: first.name, help: first.help, labelNames, registers: [registry] };
    if (first.type === "counter") {
      const counter = new Counter(options);
      for (const row of rows) counter.inc(row.labels, row.value);
    } else {
      const gauge = new Gauge(options);
      for (const row of rows) gauge.inc(row.labels, row.value);
    }
  }
  return registry;
}
