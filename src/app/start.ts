import { systemClock } from "#kernel/clock.ts";
import { giveBackHeapWhenQuiet } from "#kernel/heap.ts";
import { compose, type Running } from "./compose.ts";
import type { Config } from "./config.ts";
import type { EarlyThreads } from "./early-threads.ts";
import { keepProgramsFew } from "./kept-programs.ts";
import { createLog } from "./log.ts";
import { keepPagesFew } from "./pages.ts";
import { readyText } from "./ready.ts";

/** Time for requests under way at SIGTERM. */
const DRAIN_MS = 10_000;
/** No plane waits for the main thread, whose heap is twice as large before the first collection. */
const HEAP_BYTES_MAX = 256_000_000;

/** Runs the server until SIGTERM or SIGINT has drained it. Rejects when it cannot start. */
export async function startServer(config: Config, early: EarlyThreads): Promise<void> {
  const log = createLog(config.log.level);
  const running = await compose({ config, log, clock: systemClock, early });
  const { ready } = running;
  // Who reads the line may stop us at once; until here a signal ends the process as a power cut would.
  const asked = stopSignal();
  process.stdout.write(config.json ? `${JSON.stringify(ready)}\n` : readyText(ready, config.data));
  await running.shown();
  log.info(
    { api: ready.api, gateway: ready.gateway, dns: ready.dns, http: ready.http, https: ready.https, took_ms: ready.took_ms },
    "ready",
  );
  giveBackHeapWhenQuiet({ bytesMax: HEAP_BYTES_MAX });
  keepPagesFew();
  keepProgramsFew();
  await asked;
  await stop(running, log);
}

/** A second signal ends the process at once: the operator has seen enough. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

async function stop(running: Running, log: ReturnType<typeof createLog>): Promise<void> {
  log.info("draining");
  await running.close(DRAIN_MS);
  log.info("stopped");
}
