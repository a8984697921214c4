import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { Config } from "#app/config/config.ts";
import { databaseUrl } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";

/** A duty that each machine of an installation has alone. */
interface LocalDuty {
  readonly duty: string;
  /** For the log. */
  readonly sentence: string;
  isLocal(config: Config, isNode: boolean): boolean;
}

const hasControl = ({ roles }: Config): boolean => roles.includes("control");
const hasFile = (config: Config): boolean => hasControl(config) && databaseUrl(config).startsWith("sqlite:");

const LOCAL_DUTIES: readonly LocalDuty[] = [
  {
    duty: "changes",
    sentence: "without bus.url, changes reach the planes of servers with control only: machines without the database cannot join",
    isLocal: (config, isNode) => !isNode && hasControl(config) && config.bus.url === "",
  },
  {
    duty: "control",
    sentence: "without a PostgreSQL in database.url, this is the only server with control",
    isLocal: hasFile,
  },
  {
    duty: "counters",
    sentence: "without counters.url, rate limits, request budgets and spend of gateways are counted on each machine alone",
    isLocal: ({ counters }) => counters.url === "",
  },
  {
    duty: "events",
    sentence: "without events.url, events of this server's planes and of the nodes whose events it takes are shown by its own API only",
    isLocal: ({ events }, isNode) => !isNode && events.url === "",
  },
];

/** 1 while the machine has the duty alone. */
export const localDuty = (metrics: MetricRegistry, duty: string): Metric =>
  metrics.gauge("selvedge_local_duties", "Duties that this machine has alone, of an installation on several machines", { duty });

/** Says which duties stay local. An installation on one machine has nothing else, and nothing to say. */
export function reportLocalDuties(deps: {
  readonly config: Config;
  readonly isNode: boolean;
  readonly log: Log;
  readonly metrics: MetricRegistry;
}): void {
  const { config, isNode, log, metrics } = deps;
  const isOneMachine = !isNode && config.bus.url === "" && config.counters.url === "" && (hasFile(config) || !hasControl(config));
  if (isOneMachine) return;
  for (const { duty, sentence, isLocal } of LOCAL_DUTIES) {
    if (!isLocal(config, isNode)) continue;
    localDuty(metrics, duty).value = 1;
    log.info({ duty }, sentence);
  }
}
