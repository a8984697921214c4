import type { FastifyInstance } from "fastify";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { RequestState } from "./request.ts";

/** By class of status: enough for an alert, and at most five series. */
export function addRequestMetrics(app: FastifyInstance, metrics: MetricRegistry, clock: Clock): void {
  const classes = [1, 2, 3, 4, 5].map((first) =>
    metrics.counter("selvedge_api_requests_total", "Management API requests answered", { status: `${first}xx` }),
  );
  const seconds = metrics.counter("selvedge_api_request_seconds_total", "Time spent answering management API requests");
  app.addHook("onResponse", async (request, reply) => {
    const counter = classes[Math.floor(reply.statusCode / 100) - 1];
    if (counter) counter.value++;
    const state = request.getDecorator<RequestState | null>("state");
    if (state) seconds.value += (clock.monotonicMs() - state.startedMs) / 1000;
  });
}
