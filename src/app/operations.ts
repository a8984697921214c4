import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { MetricSample } from "#kernel/metrics.ts";

export interface OperationsDeps {
  /** Samples of every thread, the main one included. */
  samples(): Promise<readonly MetricSample[]>;
  /** What keeps the server from serving; empty when it is ready. */
  notReady(): Promise<readonly string[]>;
  /** What an operator should know though everything serves. */
  notices(): readonly string[];
}

/** Loaded when somebody asks for metrics. */
type Library = typeof import("prom-client");

const LOOP_MEASURED_EVERY_MS = 100;

/** `/healthz`: the process answers. `/readyz`: every plane serves. `/metrics`: Prometheus text, every thread's numbers. */
export function addOperations(server: FastifyInstance, deps: OperationsDeps): void {
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async (_req, reply) => {
    const reasons = await deps.notReady();
    const notices = deps.notices();
    return reply
      .code(reasons.length === 0 ? 200 : 503)
      .send({ status: reasons.length === 0 ? "ready" : "not ready", reasons, ...(notices.length === 0 ? {} : { notices }) });
  });
  let ofProcess: Registry | undefined;
  server.get("/metrics", async (_req, reply) => {
    const library = await import("prom-client");
    ofProcess ??= processMetrics(library);
    const planes = registryOf(library, await deps.samples());
    return reply.type(ofProcess.contentType).send(`${await ofProcess.metrics()}\n${await planes.metrics()}`);
  });
}

/** Of this process, measured from the first time that somebody asks. */
function processMetrics({ collectDefaultMetrics, Registry }: Library): Registry {
  const register = new Registry();
  // By default the delay of the event loop is measured a hundred times a second, which is most of what an idle server does.
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LOOP_MEASURED_EVERY_MS });
  return register;
}

/** Samples of one name from several threads are one metric, told apart by their labels. */
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
