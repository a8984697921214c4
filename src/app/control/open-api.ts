import { logOf } from "#app/log/log.ts";
import { createOperatorPorts } from "#kernel/net/operator-ports.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import type { Server as SecureServer } from "node:https";
import { createApi } from "#api/server.ts";
import { ROUTES } from "#api/routes/table.ts";
import type { Control } from "#control/control.ts";
import type { MetricRegistry, MetricSample } from "#kernel/process/metrics.ts";
import { deprecationTable } from "#deprecations/later-rows.ts";
import { createHostGate, type HostGate, namesLoopback } from "#kernel/net/host-gate.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Store } from "#store/database/store.ts";
import { type FurtherListener, listenAtFurther } from "#kernel/process/further-listener.ts";
import { type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import { LISTEN_PLACES } from "#app/config/listen-places.ts";
import { listenerPort } from "#app/operations/addresses.ts";
import { areLoopback } from "#app/config/bind-safety.ts";
import { closeHttp, trackConnections } from "#app/operations/close-http.ts";
import type { Closing } from "#app/operations/disposables.ts";
import type { ImageHandler } from "#api/images/image-handler.ts";
import { addImages } from "./image-server.ts";
import type { ComposeDeps } from "./compose-deps.ts";
import { apiConfig } from "./control-config.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import { openOperationsListener } from "#app/operations/operations-listener.ts";
import { addOperations, createOperations } from "#app/operations/operations.ts";
import { serverStatus } from "#app/operations/server-status.ts";
import { silentPlanes } from "#app/operations/silent-planes.ts";
import { addJoining, type Admit } from "#app/operations/joining.ts";
import { allowedHosts } from "#app/planes/plane-configs.ts";
import { clickHouseNotices } from "#app/operations/clickhouse-notices.ts";
import type { OpenSocket } from "#app/planes/socket-set.ts";
import type { InheritedSockets } from "#app/handover/inherited-sockets.ts";
import { descriptorOf } from "#kernel/process/fd-registry.ts";
import type { Planes } from "#app/planes/planes-deps.ts";
import type { Stalls } from "#app/threads/stalls.ts";
import type { TransportNotices } from "#app/planes/transport-notices.ts";

export interface ApiParts {
  readonly store: Store;
  readonly control: Control;
  /** Threads beside the planes that have counters. */
  readonly threads: readonly Counting[];
  readonly publisher: Publisher;
  readonly planes: Planes;
  readonly metrics: MetricRegistry;
  readonly live: LiveConfig;
  readonly transport: TransportNotices;
  readonly stalls: Pick<Stalls, "list">;
  readonly inherited: Pick<InheritedSockets, "take"> | undefined;
  readonly images: ImageHandler;
  /** Limits that other processes with an API count, too. */
  readonly sharedLimits: SharedLimits;
  /** Nodes on other machines; null without a bus. */
  fleet(): ApiFleet | null;
}

/** The part of the fleet that the API needs. */
export interface ApiFleet {
  settled(rev: number, timeoutMs: number, isPatient?: boolean): ReturnType<Publisher["settled"]>;
  join: Admit;
}

interface Counting {
  metrics(): Promise<readonly MetricSample[]>;
}

export interface OpenedApi {
  /** Resolves with the ports of the API and of the operations listener, by address; rejects with the system's error if a port is occupied. */
  listen(): Promise<Readonly<Record<"api" | "ops", readonly number[]>>>;
  /** Those that listen. */
  sockets(): readonly OpenSocket[];
  /** Applies the live configuration. Connections stay; new ones get the new certificate. */
  reload(): void;
}

/** The management API, with metrics and health; they do not listen yet. */
export function openApi(
  { config, clock, log, operatorPorts }: ComposeDeps,
  { store, control, threads, publisher, planes, metrics, live, transport, stalls, inherited, images, sharedLimits, fleet }: ApiParts,
  closing: Closing,
): OpenedApi {
  const gateOf = (hosts: readonly string[]): HostGate => createHostGate(allowedHosts(live, hosts));
  let [allowsHost, allowsOpsHost] = [gateOf(config.api.host), gateOf(config.ops.host)];
  const api = createApi({
    control,
    routes: ROUTES,
    clock,
    metrics,
    log: logOf(log, "api"),
    sharedLimits,
    settled: async (rev, waitMs) => {
      const {
        api: { propagation_timeout_ms: limitMs },
        settle,
      } = live.current();
      const [local, remote] = await Promise.all([
        settled(publisher, planes, rev, waitMs ?? limitMs),
        fleet()?.settled(rev, waitMs ?? settle.remote_ms, waitMs !== undefined),
      ]);
      return { behind: [...local.behind, ...(remote?.behind ?? [])] };
    },
    deprecations: deprecationTable(config.deprecations.later_rows),
    config: apiConfig(live, (host) => allowsHost(host)),
  });
  const samples = async () => [
    ...metrics.samples(),
    ...(await Promise.all([...threads, ...planes.workers].map((thread) => thread.metrics()))).flat(),
  ];
  const operations = createOperations({
    samples,
    status: () => serverStatus({ log, planes, samples, nodes: () => control.nodes.list() }),
    notReady: async () => (await Promise.all([unwritable(store), silentPlanes(planes.workers)])).flat(),
    notices: async () => [
      ...transport.list(),
      ...stalls.list(),
      ...control.zoneSettling.notices(),
      ...(await clickHouseNotices(config, planes.workers)),
    ],
  });
  // A proxy on this machine that is reachable from outside would also pass them on, under another name.
  const isPrivate = areLoopback(config.api.host);
  addOperations(api, operations, (host) => isPrivate && (host === undefined || namesLoopback(host)));
  addImages(api, images);
  addJoining(api, async (...given) => fleet()?.join(...given) ?? null);
  const connections = trackConnections(api.server);
  closing.addDraining((drainMs, idleMs) =>
    closeHttp({ server: api.server, further: () => further, close: () => api.close(), connections }, drainMs, idleMs),
  );
  let listening: readonly OpenSocket[] = [];
  let further: readonly FurtherListener[] = [];
  return {
    sockets: () => listening,
    listen: async () => {
      const onError = (error: unknown): void => log.error({ err: error }, "the operations listener failed to handle a request");
      const ops = await openOperationsListener({
        operations,
        places: LISTEN_PLACES.ops(config),
        fdAt: (i) => inherited?.take(socketName("ops/tcp", i)),
        allowsHost: (host) => allowsOpsHost(host),
        onError,
      });
      closing.addDraining(ops.close);
      const fd = inherited?.take("api/tcp");
      const [{ host, port, onlyIpv6: ipv6Only = false }, ...others] = LISTEN_PLACES.api(config) as readonly [ListenPlace, ...ListenPlace[]];
      // The framework does not know `fd` of Node.js, and passes it on.
      await api.listen(fd === undefined ? { host, port, ipv6Only } : ({ fd, host } as object));
      const first = { port: listenerPort(api.server.address()), fd: descriptorOf(api.server) };
      further = await listenAtFurther(api.server, others, first.port, (i) => inherited?.take(socketName("api/tcp", i + 1)));
      const sockets = { api: [first, ...further], ops: ops.sockets };
      listening = Object.entries(sockets).flatMap(([listener, all]) =>
        all.map((socket, i) => ({ name: socketName(`${listener}/tcp`, i), fd: socket.fd ?? -1, port: socket.port })),
      );
      listening = listening.filter((socket) => socket.fd >= 0);
      const ports = { api: sockets.api.map((socket) => socket.port), ops: sockets.ops.map((socket) => socket.port) };
      for (const each of [...ports.api, ...ports.ops]) createOperatorPorts(operatorPorts).add(each);
      return ports;
    },
    reload: () => {
      [allowsHost, allowsOpsHost] = [gateOf(config.api.host), gateOf(config.ops.host)];
      const { tls } = live.tls();
      if (tls !== undefined) (api.server as SecureServer).setSecureContext({ cert: tls.certificate, key: tls.key });
    },
  };
}

/** A change that adds the first zone or gateway starts planes, which have it when they serve. */
async function settled(publisher: Publisher, planes: Planes, rev: number, limitMs: number): ReturnType<Publisher["settled"]> {
  const first = await publisher.settled(rev, limitMs);
  const waking = planes.waking();
  if (waking.length === 0) return first;
  return (await planes.awake(limitMs)) ? publisher.settled(rev, limitMs) : { behind: [...new Set([...first.behind, ...waking])] };
}

/** A server that cannot store changes must get no client traffic, and its operator must learn of it; the planes still serve. */
async function unwritable(store: Store): Promise<readonly string[]> {
  const reason = await store.health();
  return reason === null ? [] : [`nothing can be written to the database: ${reason}`];
}
