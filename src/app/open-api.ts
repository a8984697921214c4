import { createApi } from "#api/server.ts";
import { ROUTES } from "#api/routes/table.ts";
import type { Control } from "#control/control.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Closing } from "./closing.ts";
import type { ComposeDeps } from "./compose.ts";
import { apiConfig } from "./control-config.ts";
import type { EventReader } from "./event-reader.ts";
import { addOperations } from "./operations.ts";
import type { Planes } from "./planes.ts";
import type { Tls } from "./tls-files.ts";

export interface ApiParts {
  readonly control: Control;
  readonly reader: EventReader;
  readonly publisher: Publisher;
  readonly planes: Planes;
  readonly metrics: MetricRegistry;
  readonly tls: Tls;
}

/** The management API with health and metrics beside it; it does not listen yet. */
export function openApi(
  { config, clock, log }: ComposeDeps,
  { control, reader, publisher, planes, metrics, tls }: ApiParts,
  closing: Closing,
): ReturnType<typeof createApi> {
  const api = createApi({
    control,
    routes: ROUTES,
    clock,
    metrics,
    log,
    settled: (rev) => publisher.settled(rev, config.api.settle_timeout_ms),
    config: apiConfig(config, tls),
  });
  addOperations(api, {
    samples: async () => [
      ...metrics.samples(),
      ...(await Promise.all([reader, ...planes.workers].map((thread) => thread.metrics()))).flat(),
    ],
    notReady: () => silentPlanes(planes.workers),
  });
  closing.addDraining(() => api.close());
  return api;
}

/** Longer than any turn of a busy thread. */
const ANSWER_LIMIT_MS = 3_000;

async function silentPlanes(workers: Planes["workers"]): Promise<readonly string[]> {
  const reasons = await Promise.all(
    workers.map(async (worker) => {
      if (!worker.isUp()) return [`${worker.name} is down`];
      return (await worker.answers(ANSWER_LIMIT_MS)) ? [] : [`${worker.name} does not answer`];
    }),
  );
  return reasons.flat();
}
