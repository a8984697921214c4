import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { type LeasedLimits, leasedLimits } from "#wire/redis/leases.ts";
import type { Config } from "#app/config/config.ts";
import { withoutCredentials } from "#app/config/config-formats.ts";
import type { Log } from "#app/log/log.ts";
import { sharedCounters } from "#app/planes/plane-configs.ts";
import { localDuty } from "./local-duties.ts";

/** The main thread's part of counters.url: limits of the API, and for all threads the log and the duty. Nothing waits for the server. */
export function openSharedCounting(deps: {
  readonly config: Config;
  readonly sealer: Pick<Sealer, "derive">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
}): LeasedLimits {
  const { config, log, metrics } = deps;
  const place = sharedCounters(config).sharedCounters;
  if (place === undefined) return leasedLimits(undefined, { ...deps, subject: "" });
  const server = withoutCredentials(place.url);
  const duty = localDuty(metrics, "counters");
  duty.value = 1;
  return leasedLimits(place, {
    ...{ ...deps, subject: "api" },
    onUp: () => {
      duty.value = 0;
      log.info({ server }, "rate limits and spend are counted together with other machines");
    },
    onDown: (reason) => {
      duty.value = 1;
      log.warn({ server, reason }, "rate limits and spend are counted on this machine alone until counters.url works again");
    },
  });
}
