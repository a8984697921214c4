import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { ConfigError } from "#app/config/config.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import type { ReloadOutcome } from "./run-file.ts";
import type { LeveledLog } from "#app/log/log.ts";

export interface ReloadDeps {
  readonly live: LiveConfig;
  readonly log: LeveledLog;
  readonly metrics: MetricRegistry;
  /** Called once the new values are in force; code that reads them at each use needs no listener. */
  readonly listeners: readonly (() => void)[];
  /** Called with the result of each reload. */
  onDone(outcome: ReloadOutcome): void;
}

/** Reads the configuration and the certificate again, as SIGHUP requests, and logs the result. Never throws. */
export function createReload({ live, log, metrics, listeners, onDone }: ReloadDeps): () => void {
  const counted = (result: "done" | "failed") =>
    metrics.counter("selvedge_config_reloads_total", "Configuration reloads by result", { result });
  const [done, failed] = [counted("done"), counted("failed")];
  let number = 0;
  return () => {
    number++;
    try {
      const { changed, needRestart, hasNewCertificate } = live.reload();
      log.use(live.current().log);
      for (const listener of listeners) listener();
      done.value++;
      log.info({ changed, has_new_certificate: hasNewCertificate }, "reloaded the configuration");
      if (needRestart.length > 0) log.warn({ keys: needRestart }, `changes to ${needRestart.join(", ")} take effect after a restart`);
      onDone({ number, problems: [], changed, need_restart: needRestart, has_new_certificate: hasNewCertificate });
    } catch (error) {
      failed.value++;
      const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
      log.error({ problems }, "the configuration is invalid; nothing was changed");
      onDone({ number, problems, changed: [], need_restart: [], has_new_certificate: false });
    }
  };
}
