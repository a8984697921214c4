import { systemClock } from "#kernel/clock.ts";
import { sharedOperatorPorts } from "#kernel/net/operator-ports.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { compose } from "./compose.ts";
import type { ComposeDeps } from "#app/control/compose-deps.ts";
import type { Config, ResolvedConfig } from "#app/config/config.ts";
import { createLog } from "#app/log/log.ts";
import { trimMemory } from "#app/threads/memory-trim.ts";
import { readyText } from "#app/operations/ready.ts";
import { createServiceManager } from "#app/operations/service-manager.ts";
import { listenForSignals } from "#app/threads/signals.ts";

/** Time for requests in progress at SIGTERM. */
const DRAIN_MS = 10_000;
/**
 * The main thread may collect a larger heap, because planes do not wait for it and its heap is twice as large before the
 * first collection.
 */
const HEAP_BYTES_MAX = 256_000_000;

/** Runs the server until it is asked to end and has drained. `load` reads the configuration again. Rejects if it cannot start. */
export async function startServer(
  { config, warnings }: Pick<ResolvedConfig, "config" | "warnings">,
  load: () => Config,
  { early, newInstallation }: Pick<ComposeDeps, "early" | "newInstallation">,
): Promise<void> {
  const signals = listenForSignals();
  const log = createLog(config.log.level);
  for (const warning of warnings) log.warn(warning);
  const running = await compose({ config, load, log, clock: systemClock, early, newInstallation, operatorPorts: sharedOperatorPorts() });
  const { ready } = running;
  // A program that reads the line may stop the server at once.
  const asked = signals.end();
  process.stdout.write(config.json ? `${JSON.stringify(ready)}\n` : readyText(ready, config.data));
  await running.shown();
  const manager = createServiceManager({ env: process.env, pid: process.pid, log });
  manager.ready();
  log.info(
    { api: ready.api, gateway: ready.gateway, dns: ready.dns, http: ready.http, https: ready.https, took_ms: ready.took_ms },
    "ready",
  );
  signals.onReload(running.reload);
  giveBackHeapWhenQuiet({ bytesMax: HEAP_BYTES_MAX });
  trimMemory(running.onNotNative);
  await asked;
  manager.stopping();
  log.info("draining");
  await running.close(DRAIN_MS);
  log.info("stopped");
}
