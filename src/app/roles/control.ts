import { readRegularFile } from "#kernel/process/regular-file.ts";
import { logOf } from "#app/log/log.ts";
import { readFileSync } from "node:fs";
import type { ComposeDeps } from "#app/control/compose-deps.ts";
import { hashFirstToken } from "#control/access/first-token.ts";
import { createScheduledBackups } from "#app/backup/scheduled-backups.ts";
import { backupSamples } from "#app/backup/last-backup.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { anyGateway } from "#store/gateways/gateways.ts";
import { anyZone } from "#store/zones/zones.ts";
import { planeAddresses } from "#app/operations/addresses.ts";
import { startAnnouncements } from "#app/operations/notify-changes.ts";
import type { Closing } from "#app/operations/disposables.ts";
import { snapshotMayHave } from "#app/planes/snapshot-peek.ts";
import { createLiveConfig } from "#app/config/live-config.ts";
import { createDatabaseClock } from "#app/control/database-clock.ts";
import { startControlJobs } from "#app/control/start-jobs.ts";
import { createFeedSource } from "#app/control/feed-source.ts";
import { nodeIdIn } from "#app/control/node-id.ts";
import type { Fleet } from "#app/fleet/fleet.ts";
import { openImageServer } from "#app/control/image-server.ts";
import { openApi } from "#app/control/open-api.ts";
import { openControl, openPublisher } from "#app/control/open-control.ts";
import { fixedEdgeAddresses } from "#app/planes/plane-configs.ts";
import { planeReports } from "#app/planes/plane-reports.ts";
import type { Planes } from "#app/planes/planes-deps.ts";
import { startPlanes } from "./planes.ts";
import { createLeaving } from "./leaving.ts";
import type { Running } from "./running.ts";
import { serverHealth } from "#app/operations/server-health.ts";
import type { ListenerAddresses, ReadyLine } from "#app/operations/ready.ts";
import { reportLocalDuties } from "#app/operations/local-duties.ts";
import { createLevelChanges } from "#app/operations/level-changes.ts";
import { createReload } from "#app/operations/reload.ts";
import { keepRunFile } from "#app/operations/run-file.ts";
import { openSharedCounting } from "#app/operations/shared-counting.ts";
import { createStalls } from "#app/threads/stalls.ts";
import { openState } from "#app/control/state.ts";
import { tryState } from "#app/control/try-state.ts";
import { systemCall } from "#control/call.ts";
import { nodeSamples } from "#control/nodes/node-samples.ts";
import { forgetEdgeAddresses } from "#control/nodes/edge-addresses.ts";
import { forgetVisitorKeys } from "#control/nodes/visitor-keys.ts";
import { shareCoreRules } from "#control/rulesets/core-rules.ts";
import { openRuleFiles } from "#app/waf/rule-files.ts";
import { createTransportNotices } from "#app/planes/transport-notices.ts";

/**
 * The role `control`, with the planes that the process runs beside it: connects the parts in order of their dependencies: state, control,
 * feed, planes, API.
 */
export async function runControl(given: ComposeDeps, closing: Closing): Promise<Running> {
  if (given.takeOver !== null) {
    await tryState(given);
    await given.takeOver.loaded();
  }
  const databaseClock = createDatabaseClock(given.clock, given.log);
  closing.add(() => databaseClock.close());
  const deps: ComposeDeps = { ...given, clock: databaseClock.clock };
  const { config, log, clock, early, operatorPorts, inherited, takeOver } = deps;
  const state = await openState(deps, databaseClock.follow, closing);
  const { files, store, sealer, first } = state;
  const ruleFiles = openRuleFiles({
    config,
    files,
    followsControl: false,
    log,
    onChanged: (material) => {
      running.useRuleMaterial(material);
      share().catch((error: unknown) => log.error({ err: error }, "cannot tell nodes which Core Rule Set to use; SIGHUP tries again"));
    },
  });
  closing.add(() => ruleFiles.close());
  // Only nodes, which are on the bus, get it from the snapshot.
  const share = async (): Promise<void> => {
    if (config.bus.url !== "") await shareCoreRules({ store, clock }, systemCall("core-rules"), ruleFiles.material().coreRules);
  };
  await share();
  const live = createLiveConfig({ config, tls: state.tls, load: deps.load });
  const metrics = createMetrics();
  const sharedLimits = openSharedCounting({ config, sealer, clock, log, metrics });
  closing.add(async () => sharedLimits.close());
  let urlOfGateways = "";
  let tunnelPort = config.https.port;
  let nameserver = "";
  let urlOfApi = "";
  let running: Pick<Planes, "workers" | "idle" | "useRuleMaterial"> = { workers: [], idle: () => [], useRuleMaterial: () => undefined };
  let listening: Partial<ListenerAddresses> = {};
  let fleet: Fleet | null = null;
  const asked = {
    ...{ metrics, sharedLimits },
    urlOfGateways: () => urlOfGateways,
    tunnelPort: () => tunnelPort,
    nameserver: () => nameserver || undefined,
    urlOfApi: () => urlOfApi,
    serverHealth: () => serverHealth(store, running, listening),
    heardNodes: () => fleet?.heard ?? new Map(),
  };
  const { control, reader, logReader, batches, sharedLogs } = await openControl(deps, state, asked, closing);
  const images = await openImageServer({ control, log, operatorPorts }, closing);
  const publisher = await openPublisher(deps, state, control, closing);
  const hasZones = state.isLate ? snapshotMayHave("zone", files.lastGood) : await anyZone(store.read);
  const hasGateways = state.isLate ? snapshotMayHave("gateway", files.lastGood) : await anyGateway(store.read);
  reportLocalDuties({ config, isNode: false, log, metrics });
  const transport = createTransportNotices(log, metrics);
  const stalls = createStalls({ clock, log, metrics });
  closing.add(async () => stalls.close());
  const planes = await startPlanes({
    ...{
      config,
      live,
      publisher,
      log,
      files,
      early,
      ruleMaterial: ruleFiles.material,
      imagesPort: images.port,
      operatorPorts,
      metrics,
      hasZones,
      hasGateways,
      stalls,
      onNotNative: transport.add,
      inherited,
      eventsFree: takeOver?.eventsFree,
    },
    ...planeReports(control, log),
  });
  closing.addPlanes((drainMs) => planes.stop(drainMs));
  running = planes;
  transport.report();
  const places = planeAddresses(config, { ...planes.ports, api: [], ops: [] });
  listening = places;
  urlOfGateways = places.gateway;
  tunnelPort = planes.ports.https[0] || config.https.port;
  nameserver = places.dns;

  const api = openApi(
    deps,
    {
      store,
      control,
      threads: [
        ...[reader, logReader, batches, { metrics: async () => backupSamples(config.data) }],
        // A monitor must see the rest while the database is away.
        { metrics: async () => nodeSamples(await control.nodes.list().catch(() => []), clock.nowMs()) },
      ],
      publisher,
      planes,
      metrics,
      live,
      transport,
      stalls,
      inherited,
      images: images.handler,
      sharedLimits,
      fleet: () => fleet,
    },
    closing,
  );
  if (config.bus.url !== "")
    await state.withDatabase(async () => {
      // Loaded only with a bus: the client of NATS is not small.
      const { openFleet } = await import("#app/fleet/fleet.ts");
      const opened = await openFleet({
        ...{
          config,
          store,
          sealer,
          clock,
          log: logOf(log, "nodes"),
          nodes: control.nodes,
          rollouts: control.rollouts,
          edgeAddresses: fixedEdgeAddresses(config),
          onEdgeAddresses: control.knowEdgeAddresses,
          source: createFeedSource(store, control.access),
        },
        reports: planeReports(control, log),
        ...{ nodeId: nodeIdIn(files.nodeId), writerPort: planes.writerPort, sharedLogs },
        localRoot: readFileSync(files.localRoot, "utf8"),
        busRoot: config.bus.ca === "" ? "" : readRegularFile(config.bus.ca).toString(),
      });
      closing.add(() => opened.close());
      fleet = opened;
    });
  else
    await state.withDatabase(async () => {
      await forgetEdgeAddresses({ store, clock });
      await forgetVisitorKeys({ store });
    });
  const backups = createScheduledBackups({ clock, metrics, config: live.current });
  await state.withDatabase(async () => {
    const announcements = await startAnnouncements({ config, store, sealer, clock, metrics, publisher, log, operatorPorts });
    closing.add(() => announcements.close());
    await startControlJobs({ control, live, backups, store, clock, metrics, log, nodeId: nodeIdIn(files.nodeId) }, closing);
  });
  const addresses = planeAddresses(config, { ...planes.ports, ...(await api.listen()) });
  urlOfApi = new URL(addresses.api).origin;
  // The monotonic scale begins with the process, so this includes loading the program.
  const took_ms = Math.round(clock.monotonicMs());
  const run = { pid: process.pid, ...addresses, started_at: new Date(clock.nowMs()).toISOString() };
  const runFile = keepRunFile(config.data, run, (error) =>
    log.error({ err: error }, "cannot write the status file; selvedge status cannot find this server until it is written"),
  );
  const leaving = createLeaving({ closing, planes, runFile, clock, sockets: api.sockets });
  const levels = createLevelChanges({ dataDir: config.data, log, clock, onDone: runFile.answeredLevels });
  closing.add(async () => levels.close());
  inherited?.closeRest();
  takeOver?.serving();
  const { account_id, token } = first;
  const ready: ReadyLine = { event: "ready", ...addresses, account_id, ...(token === null ? {} : { token }), pid: process.pid, took_ms };
  const reload = createReload({
    live,
    log,
    metrics,
    onDone: runFile.reloaded,
    listeners: [api.reload, planes.reload, () => void ruleFiles.reload(live.current())],
  });
  const shown = async (): Promise<void> => (token === null ? undefined : hashFirstToken(store));
  return { ready, reload, shown, onNotNative: transport.add, leaving, changeLevels: levels.take, close: closing.close };
}
