import type { MetricSample } from "#kernel/process/metrics.ts";
import type { Config } from "#app/config/config.ts";
import type { PlaneWorker } from "#app/threads/plane-worker.ts";

/** For `/readyz`: the server serves while ClickHouse is away, but its events wait. */
export async function clickHouseNotices(
  { events }: Config,
  workers: readonly Pick<PlaneWorker, "name" | "metrics">[],
): Promise<readonly string[]> {
  if (events.url === "") return [];
  const writers = workers.filter(({ name }) => name === "events");
  return noticesIn((await Promise.all(writers.map((worker) => worker.metrics()))).flat());
}

function noticesIn(samples: readonly MetricSample[]): readonly string[] {
  const valueOf = (name: string): number | undefined => samples.find((sample) => sample.name === name)?.value;
  const bytes = valueOf("selvedge_events_clickhouse_spool_bytes") ?? 0;
  if (valueOf("selvedge_events_clickhouse_up") !== 0 || bytes === 0) return [];
  return [`ClickHouse does not take events: ${bytes} bytes wait on this disk`];
}
