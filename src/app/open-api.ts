import type { Server as SecureServer } from "node:https";
import { createApi } from "#api/server.ts";
import { ROUTES } from "#api/routes/table.ts";
import type { Control } from "#control/control.ts";
import type { MetricRegistry, MetricSample } from "#kernel/metrics.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import { closeHttp } from "./close-http.ts";
import type { Closing } from "./closing.ts";
import type { ComposeDeps } from "./compose.ts";
import { apiConfig } from "./control-config.ts";
import type { LiveConfig } from "./live-config.ts";
import { addOperations } from "./operations.ts";
import type { Planes } from "./planes.ts";
import type { TransportNotices } from "./transport-notices.ts";

export interface ApiParts {
  readonly control: Control;
  /** Threads beside the planes that count something. */
  readonly threads: readonly Counting[];
  readonly publisher: Publisher;
  readonly planes: Planes;
  readonly metrics: MetricRegistry;
  readonly live: LiveConfig;
  readonly transport: TransportNotices;
}

interface Counting {
  metrics(): Promise<readonly MetricSample[]>;
}

export interface OpenedApi {
  readonly server: ReturnType<typeof createApi>;
  /** Takes what the live configuration says now. Connections stay; new ones get the new certificate. */
  reload(): void;
}

/** The management API with health and metrics beside it; it does not listen yet. */
export function openApi(
  { clock, log }: ComposeDeps,
  { control, threads, publisher, planes, metrics, live, transport }: ApiParts,
  closing: Closing,
): OpenedApi {
  const api = createApi({
    control,
    routes: ROUTES,
    clock,
    metrics,
    log,
    settled: (rev) => settled(publisher, planes, rev, live.current().api.settle_timeout_ms),
    config: apiConfig(live),
  });
  addOperations(api, {
    samples: async () => [
      ...metrics.samples(),
      ...(await Promise.all([...threads, ...planes.workers].map((thread) => thread.metrics()))).flat(),
    ],
    notReady: () => silentPlanes(planes.workers),
    notices: transport.list,
  });
  closing.addDraining((drainMs) => closeHttp({ server: api.server, close: () => api.close() }, drainMs));
  return {
    server: api,
    reload: () => {
      const { tls } = live.tls();
      if (tls !== undefined) (api.server as SecureServer).setSecureContext({ cert: tls.certificate, key: tls.key });
    },
  };
}

/** A change that brings the first zone starts planes, which have it when they serve. */
async function settled(publisher: Publisher, planes: Planes, rev: number, limitMs: number): ReturnType<Publisher["settled"]> {
  const first = await publisher.settled(rev, limitMs);
  if (!planes.isWaking()) return first;
  return (await planes.awake(limitMs)) ? publisher.settled(rev, limitMs) : { behind: [...first.behind, "nameserver", "edge"] };
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
