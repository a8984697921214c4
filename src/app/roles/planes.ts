import type { Planes, Ports, ServingSpec, PlanesDeps, Serve } from "#app/planes/planes-deps.ts";
import { socketOf } from "#kernel/net/listen-place.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { removeUnusedCaches } from "#app/planes/plane-caches.ts";
import { gatewayFront } from "#app/planes/plane-configs.ts";
import { startPlaneWorker, type PlaneWorker } from "#app/threads/plane-worker.ts";
import { type Bound, channel, handOver, portOf } from "#app/threads/thread-ports.ts";
import { startSinks } from "#app/planes/shared-workers.ts";
import { createGatewayPlane } from "./gateway.ts";
import { createZonePlanes } from "./zone-planes.ts";
import type { OpenSocket } from "#app/planes/socket-set.ts";

/**
 * Starts the threads of the process's roles at once: messages to a loading one wait in its port. They stop in the order
 * of the data flow, so that nothing is lost: first the serving threads, then detection, then the writer of events. If
 * one cannot start, the others are stopped and the error is thrown.
 */
export async function startPlanes(deps: PlanesDeps): Promise<Planes> {
  const { config } = deps;
  await removeUnusedCaches(config, deps.files);
  const serving: PlaneWorker[] = [];
  const edgeThreads: PlaneWorker[] = [];
  const serve: Serve = (spec) => {
    const worker = startServingWorker(deps, spec);
    serving.push(worker);
    return worker;
  };
  const sinks = startSinks(deps, { serving, edges: edgeThreads });
  const forget = (worker: PlaneWorker): void => {
    for (const threads of [serving, edgeThreads]) threads.splice(0, Infinity, ...threads.filter((one) => one !== worker));
  };
  const zonePlanes = createZonePlanes(deps, { sinks, serve, edgeThreads, forget });
  const gateway = config.roles.includes("gateway")
    ? createGatewayPlane(deps, sinks, { serve, forget, onEdgePort: zonePlanes.gatewayAt })
    : null;
  const late = [zonePlanes, ...(gateway === null ? [] : [gateway])];
  const stop = async (timeoutMs: number, idleMs = 0): Promise<void> => {
    for (const plane of late) plane.stop();
    // Edges that still take requests pass some of them to the gateway and the nameserver.
    if (idleMs > 0) await Promise.all(edgeThreads.map((worker) => worker.stop(timeoutMs, idleMs)));
    const rest = serving.filter((worker) => idleMs === 0 || !edgeThreads.includes(worker));
    await Promise.all(rest.map((worker) => worker.stop(timeoutMs, idleMs)));
    for (const plane of late) plane.close();
    await sinks.stop();
  };
  /** The process before this one still writes events. */
  let isWriterAwaited = deps.eventsFree !== undefined;
  try {
    const [{ dns, edge }, gatewayPorts] = await Promise.all([
      zonePlanes.start(),
      gateway?.start(),
      deps.eventsFree === undefined ? sinks.writer.listening : undefined,
    ]);
    const ports = {
      dns: portsIf(dns, "udp"),
      dot: portsIf(dns, "dot"),
      http: portsIf(edge, "http"),
      https: portsIf(edge, "https"),
      gateway: portsIf(gatewayPorts, "http"),
    };
    sinks.writer.listening.then(
      () => (isWriterAwaited = false),
      () => undefined,
    );
    // Ends threads that were loaded for zones or gateways that turned out not to exist.
    await deps.early.dismiss();
    const waking = () => late.filter((plane) => plane.isWaking());
    return {
      get workers() {
        const starting = waking().flatMap((plane) => plane.threads);
        return [
          ...(isWriterAwaited ? [] : [sinks.writer]),
          sinks.detector,
          ...serving.filter((worker) => worker.isUp() || !starting.includes(worker)),
        ];
      },
      sockets: () => ({
        sockets: [...late.flatMap((plane) => plane.waitingSockets()), ...serving.flatMap(openSockets)],
        servesZones: zonePlanes.threads.length > 0,
      }),
      handOver: () => sinks.writer.handOver(),
      writerPort: () => handOver(sinks.writer),
      useRuleMaterial: zonePlanes.useRuleMaterial,
      reload: () => gateway?.useFront(gatewayFront(deps.live)),
      idle: () => late.filter((plane) => plane.isIdle()).flatMap(({ names }) => names),
      waking: () => waking().flatMap(({ names }) => names),
      awake: async (withinMs) => (await Promise.all(waking().map((plane) => plane.awake(withinMs)))).every(Boolean),
      ...{ ports, stop },
    };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

/** In the order of the addresses; empty for a plane that the process does not run. */
function portsIf(bound: Bound | null | undefined, transport: string): readonly number[] {
  if (!bound) return [];
  const first = portOf(bound, transport);
  const further = Object.keys(bound).filter((name) => name !== transport && socketOf(name).transport === transport);
  return [first, ...further.toSorted((a, b) => socketOf(a).index - socketOf(b).index).map((name) => portOf(bound, name))];
}

/** A thread's sockets. */
const openSockets = (worker: PlaneWorker): readonly OpenSocket[] => {
  const { fds, ports } = worker.sockets();
  return Object.entries(fds).map(([transport, fd]) => ({ name: `${worker.name}/${transport}`, fd, port: ports[transport] ?? 0 }));
};

/** A thread that answers clients from its copy of the snapshot. */
function startServingWorker(
  { publisher, log, files, early, stalls, onNotified, onReaddressed, onDefaultGateway, onTunnels, onSightings, onNotNative }: PlanesDeps,
  { name, role, script, ports, planeConfig, onNeeded }: ServingSpec,
): PlaneWorker {
  return startPlaneWorker({
    name,
    script,
    log,
    early,
    stalls,
    onNotified,
    onReaddressed,
    onDefaultGateway,
    ...(role === "edge" ? { onTunnels, onSightings } : {}),
    onNotNative,
    ...(onNeeded === undefined ? {} : { onNeeded }),
    connect: (bound) => {
      const feed = channel();
      publisher.attach(createMessagePortFeed(feed.near));
      const transferred: Ports = { feed: feed.far, ...ports() };
      const data = {
        name,
        config: planeConfig(bound),
        lastGoodPath: files.lastGood,
        sealKeyPath: files.keysOf?.(role) ?? files.sealKey,
        localRootPath: files.localRoot,
        logSegments: logSegmentsOf(files.events),
      };
      return { workerData: { ...data, ...transferred }, transfer: Object.values(transferred) };
    },
  });
}
