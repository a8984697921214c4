import { systemClock } from "#kernel/clock.ts";
import { sharedOperatorPorts } from "#kernel/net/operator-ports.ts";
import { giveBackHeapWhenQuiet } from "#kernel/process/heap.ts";
import { compose } from "./compose.ts";
import type { Leaving } from "#app/roles/leaving.ts";
import type { ComposeDeps } from "#app/control/compose-deps.ts";
import type { Config, ResolvedConfig } from "#app/config/config.ts";
import { createHandOver, type HandOver } from "#app/handover/hand-over.ts";
import { passedSockets } from "#app/handover/inherited-sockets.ts";
import { startSuccessor } from "#app/handover/successor.ts";
import { follow } from "#app/operations/follow.ts";
import { createLog, type LeveledLog } from "#app/log/log.ts";
import { trimMemory } from "#app/threads/memory-trim.ts";
import { readyText } from "#app/operations/ready.ts";
import { createServiceManager } from "#app/operations/service-manager.ts";
import { listenForSignals } from "#app/threads/signals.ts";

/** Time for requests in progress at SIGTERM. */
const DRAIN_MS = 10_000;
/**
 * At a restart, idle connections have this time for one more request: on the planes, and on the API, which nobody serves
 * meanwhile.
 */
const IDLE_MS = 2_000;
const API_IDLE_MS = 300;
/**
 * The main thread may collect a larger heap, because planes do not wait for it and its heap is twice as large before the
 * first collection.
 */
const HEAP_BYTES_MAX = 256_000_000;

/** This server's side of a restart without loss. */
const offerHandOver = (leaving: Leaving, config: Config, log: LeveledLog): HandOver =>
  createHandOver({
    log,
    start: () => {
      const { sockets, servesZones } = leaving.sockets();
      return startSuccessor(passedSockets(config, sockets, leaving.isReleased()), servesZones);
    },
    release: () => leaving.release(DRAIN_MS, API_IDLE_MS),
    onFailed: leaving.restartFailed,
  });

/** Runs the server until it is asked to end and has drained. `load` reads the configuration again. Rejects if it cannot start. */
export async function startServer(
  { config, warnings }: Pick<ResolvedConfig, "config" | "warnings">,
  load: () => Config,
  { early, newInstallation, inherited, takeOver }: Pick<ComposeDeps, "early" | "newInstallation" | "inherited" | "takeOver">,
): Promise<void> {
  const signals = listenForSignals();
  const log = createLog(config.log);
  for (const warning of warnings) log.warn(warning);
  const running = await compose({
    config,
    load,
    log,
    clock: systemClock,
    early,
    newInstallation,
    inherited,
    takeOver,
    operatorPorts: sharedOperatorPorts(),
  });
  const { ready } = running;
  // A program that reads the line may stop the server at once.
  const asked = signals.end();
  process.stdout.write(config.json ? `${JSON.stringify(ready)}\n` : readyText(ready, config.data));
  await running.shown();
  const manager = createServiceManager({ env: process.env, pid: process.pid, hasTakenOver: takeOver !== null, log });
  manager.ready();
  log.info(
    { api: ready.api, gateway: ready.gateway, dns: ready.dns, http: ready.http, https: ready.https, took_ms: ready.took_ms },
    "ready",
  );
  signals.onReload(running.reload);
  signals.onLevels(running.changeLevels);
  giveBackHeapWhenQuiet({ bytesMax: HEAP_BYTES_MAX });
  trimMemory(running.onNotNative);
  const handOver = offerHandOver(running.leaving, config, log);
  signals.onRestart(handOver.begin);
  const successor = await Promise.race([handOver.served, asked]);
  if (typeof successor !== "string") {
    // systemd follows the new process by itself, and sends its signals to every process.
    const following = process.env["NOTIFY_SOCKET"] === undefined ? follow(successor.pid) : null;
    void following?.asked.then(() => successor.tell({ type: "ending" }));
    manager.handedOver();
    log.info({ successor: successor.pid }, "another process has taken over; draining");
    try {
      await Promise.race([running.leaving.stopPlanes(DRAIN_MS, IDLE_MS), asked, following?.asked ?? asked]);
      await running.close(0);
    } catch (error) {
      // A parent would take the end of this process for the end of the server.
      log.error({ err: error }, "draining failed; the process that has taken over goes on");
    }
    successor.tell({ type: "drained" });
    successor.letGo();
    log.info("stopped");
    following?.drained();
    // Nothing waits for a process that has taken over.
    if (takeOver === null) await following?.ended(config.data);
    return;
  }
  handOver.cancel();
  manager.stopping();
  log.info("draining");
  await running.close(DRAIN_MS);
  log.info("stopped");
}
