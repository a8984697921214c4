import { logOf } from "#app/log/log.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { readPlaneSealer } from "#kernel/crypto/plane-keys.ts";
import { createHostGate, type HostGate } from "#kernel/net/host-gate.ts";
import { createOperatorPorts } from "#kernel/net/operator-ports.ts";
import { checkLastGood, lastGoodPosition } from "#snapshot/last-good/last-good.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { unchangingSource } from "#snapshot/unchanging-source.ts";
import { isLoopbackUrl, refuseUnsafeBinds } from "#app/config/bind-safety.ts";
import { createLiveConfig } from "#app/config/live-config.ts";
import type { PlaneRole } from "#app/config/roles.ts";
import { readTls } from "#app/config/tls-files.ts";
import type { ComposeDeps } from "#app/control/compose-deps.ts";
import { lockDataDirectory } from "#app/control/data-lock.ts";
import { socketName } from "#kernel/net/listen-place.ts";
import { LISTEN_PLACES } from "#app/config/listen-places.ts";
import { planeAddresses } from "#app/operations/addresses.ts";
import type { Closing } from "#app/operations/disposables.ts";
import { openOperationsListener } from "#app/operations/operations-listener.ts";
import { createOperations } from "#app/operations/operations.ts";
import { listed } from "#app/operations/ready.ts";
import { keepRunFile } from "#app/operations/run-file.ts";
import { serverStatus } from "#app/operations/server-status.ts";
import { silentPlanes } from "#app/operations/silent-planes.ts";
import { allowedHosts } from "#app/planes/plane-configs.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import type { PlaneReports, Planes } from "#app/planes/planes-deps.ts";
import { createTransportNotices } from "#app/planes/transport-notices.ts";
import { clickHouseNotices } from "#app/operations/clickhouse-notices.ts";
import { reportLocalDuties } from "#app/operations/local-duties.ts";
import { createLevelChanges } from "#app/operations/level-changes.ts";
import { createReload } from "#app/operations/reload.ts";
import { openSharedCounting } from "#app/operations/shared-counting.ts";
import { createStalls } from "#app/threads/stalls.ts";
import { openRuleFiles } from "#app/waf/rule-files.ts";
import { openImageRelay } from "#app/fleet/image-relay.ts";
import { type NodeState, planeKeyFile, readControlRoot, readNodeState } from "#app/fleet/node-state.ts";
import { startPlanes } from "./planes.ts";
import { createLeaving } from "./leaving.ts";
import type { Running } from "./running.ts";

/** A directory that has not joined has no control to report to. */
const UNREPORTED: PlaneReports = {
  onNotified: () => undefined,
  onReaddressed: () => undefined,
  onDefaultGateway: () => undefined,
  onTunnels: () => undefined,
  onSightings: () => undefined,
};

/** The port of the images; 0 if the process has no edge, or nobody has said where control is. */
async function openImages({ control_url = "" }: NodeState, { config, log, operatorPorts }: ComposeDeps, closing: Closing): Promise<number> {
  if (!config.roles.includes("edge")) return 0;
  const control = config.images.control || control_url;
  if (control === "") log.warn({}, "images are not delivered here: this machine joined with an earlier release, so set images.control");
  if (control.startsWith("http:") && !isLoopbackUrl(control))
    throw new Error("images.control must begin with https://, because images that need a signature would cross a network in clear text");
  // The authority is that of the server at which the machine joined.
  const root = control === control_url ? readControlRoot(config.data) : null;
  return control === "" ? 0 : openImageRelay({ control, root, log: logOf(log, "nodes"), operatorPorts }, closing);
}

/** A process with planes only: no database, no API, no jobs. The operations listener shows its health. */
export async function runPlanes(deps: ComposeDeps, closing: Closing): Promise<Running> {
  const { config, log, clock, early, operatorPorts, inherited, takeOver } = deps;
  refuseUnsafeBinds(config, false);
  const tls = readTls(config.tls);
  const state = readNodeState(config.data);
  const files = {
    ...planeFiles(config.data),
    ...(state === null ? {} : { keysOf: (plane: PlaneRole) => planeKeyFile(config.data, plane) }),
  };
  const counting = config.roles.find((role): role is PlaneRole => role === "edge" || role === "gateway");
  const readSealer = () => (counting === undefined ? undefined : readPlaneSealer(files.keysOf?.(counting) ?? files.sealKey));
  if (takeOver !== null) {
    // A missing key is found while the process before still has everything.
    readSealer();
    await takeOver.loaded();
  }
  const lock = lockDataDirectory(config.data);
  closing.add(() => lock.release());
  const feedLog = (level: "info" | "warn" | "error", message: string, fields?: object): void => log[level](fields ?? {}, message);
  const lastGood = await checkLastGood(files.lastGood, feedLog);
  const metrics = createMetrics();
  const feed =
    state === null ? null : (await import("#app/fleet/node-feed.ts")).openNodeFeed({ config, state, log: logOf(log, "nodes"), metrics });
  if (feed !== null) closing.add(() => feed.close());
  if (lastGood === null && feed === null)
    throw new Error(
      `there is nothing to serve: ${files.lastGood} is missing or damaged, and this process has no role control that could build it. Join one with selvedge join; or copy snapshot.last-good, snapshot.last-good.journal, seal.key and, with an OWASP Core Rule Set, crs.last-good from the data directory of a server with control; or add control to roles`,
    );
  if (feed === null) log.warn({}, "serving the last good copy, which does not change: this directory has not joined (selvedge join)");
  const source = feed?.source ?? unchangingSource(lastGoodPosition(lastGood!));
  const publisher = createPublisher({ source, lastGoodPath: files.lastGood, lastGood, log: feedLog });
  await publisher.start();
  closing.add(() => publisher.close());

  let running: Pick<Planes, "useRuleMaterial"> = { useRuleMaterial: () => undefined };
  const ruleFiles = openRuleFiles({ config, files, followsControl: true, log, onChanged: (material) => running.useRuleMaterial(material) });
  closing.add(() => ruleFiles.close());
  const live = createLiveConfig({ config, tls, load: deps.load });
  reportLocalDuties({ config, isNode: feed !== null, log, metrics });
  const sealer = readSealer();
  if (sealer !== undefined) {
    const shared = openSharedCounting({ config, sealer, clock, log, metrics });
    closing.add(async () => shared.close());
  }
  const imagesPort = state === null ? 0 : await openImages(state, deps, closing);
  const transport = createTransportNotices(log, metrics);
  const stalls = createStalls({ clock, log, metrics });
  closing.add(async () => stalls.close());
  const planes = await startPlanes({
    ...{ config, live, publisher, log, files, early, operatorPorts, metrics, stalls },
    ruleMaterial: ruleFiles.material,
    ...{ hasZones: true, hasGateways: true, imagesPort },
    onNotNative: transport.add,
    inherited,
    eventsFree: takeOver?.eventsFree,
    ...(feed === null ? UNREPORTED : { uplink: feed.uplink, ...feed.notifier }),
  });
  closing.addPlanes((drainMs) => planes.stop(drainMs));
  running = planes;
  transport.report();

  const gateOf = (): HostGate => createHostGate(allowedHosts(live, config.ops.host));
  let allowsHost = gateOf();
  const samples = async () => [...metrics.samples(), ...(await Promise.all(planes.workers.map((thread) => thread.metrics()))).flat()];
  const ops = await openOperationsListener({
    operations: createOperations({
      samples,
      status: () => serverStatus({ log, planes, samples, nodes: async () => [] }),
      notReady: async () => [...(feed?.notReady(publisher) ?? []), ...(await silentPlanes(planes.workers))],
      notices: async () => [...transport.list(), ...stalls.list(), ...(await clickHouseNotices(config, planes.workers))],
    }),
    places: LISTEN_PLACES.ops(config),
    fdAt: (i) => inherited?.take(socketName("ops/tcp", i)),
    allowsHost: (host) => allowsHost(host),
    onError: (error) => log.error({ err: error }, "the operations listener failed to handle a request"),
  });
  closing.addDraining(ops.close);
  const opsPorts = ops.sockets.map(({ port }) => port);
  for (const port of opsPorts) createOperatorPorts(operatorPorts).add(port);
  const addresses = planeAddresses(config, { ...planes.ports, api: [], ops: opsPorts });
  const listeners = (["gateway", "dns", "dot", "http", "https"] as const).map((name) => [name, listed(addresses, name)] as const);
  feed?.report(publisher, async () => ({
    addresses: Object.fromEntries(listeners.filter(([, address]) => address !== "")),
    problems: await silentPlanes(planes.workers),
  }));
  const runFile = keepRunFile(config.data, { pid: process.pid, ...addresses, started_at: new Date(clock.nowMs()).toISOString() }, (error) =>
    log.error({ err: error }, "cannot write the status file; selvedge status cannot find this server until it is written"),
  );
  const sockets = () => ops.sockets.flatMap(({ fd, port }, i) => (fd === undefined ? [] : [{ name: socketName("ops/tcp", i), fd, port }]));
  const leaving = createLeaving({ closing, planes, runFile, clock, sockets });
  const levels = createLevelChanges({ dataDir: config.data, log, clock, onDone: runFile.answeredLevels });
  closing.add(async () => levels.close());
  inherited?.closeRest();
  takeOver?.serving();
  const reload = createReload({
    ...{ live, log, metrics },
    onDone: runFile.reloaded,
    listeners: [() => void (allowsHost = gateOf()), planes.reload, () => void ruleFiles.reload(live.current())],
  });
  return {
    ready: { event: "ready", ...addresses, account_id: "", pid: process.pid, took_ms: Math.round(clock.monotonicMs()) },
    reload,
    shown: async () => undefined,
    onNotNative: transport.add,
    leaving,
    changeLevels: levels.take,
    close: closing.close,
  };
}
