import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { MetricSample } from "#kernel/metrics.ts";

export interface OperationsDeps {
  /** Samples of every thread, the main one included. */
  samples(): Promise<readonly MetricSample[]>;
  /** What keeps the server from serving; empty when it is ready. */
  notReady(): Promise<readonly string[]>;
}

const LOOP_MEASURED_EVERY_MS = 100;

/** `/healthz`: the process answers. `/readyz`: every plane serves. `/metrics`: Prometheus text, every thread's numbers. */
export function addOperations(server: FastifyInstance, deps: OperationsDeps): void {
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async (_req, reply) => {
    const reasons = await deps.notReady();
    return reply.code(reasons.length === 0 ? 200 : 503).send({ status: reasons.length === 0 ? "ready" : "not ready", reasons });
  });
  const processMetrics = new Registry();
  // By default the delay of the event loop is measured a hundred times a second, which is most of what an idle server does.
  collectDefaultMetrics({ register: processMetrics, eventLoopMonitoringPrecision: LOOP_MEASURED_EVERY_MS });
  server.get("/metrics", async (_req, reply) => {
    const planes = registryOf(await deps.samples());
    const text = `${await processMetrics.metrics()}\n${await planes.metrics()}`;
    return reply.type(processMetrics.contentType).send(text);
  });
}

/** Samples of one name from several threads are one metric, told apart by their labels. */
function registryOf(samples: readonly MetricSample[]): Registry {
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
