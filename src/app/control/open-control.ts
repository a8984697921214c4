import { addressesOf } from "#app/config/listen-places.ts";
import { openObjectStore } from "#app/config/object-store.ts";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import { systemCall } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { createControl } from "#control/create.ts";
import { createSharedLogs, type SharedLogs } from "#control/gateways/shared-logs.ts";
import type { SeenReport } from "#control/nodes/nodes.ts";
import { conflictText } from "#control/ownership/conflicts.ts";
import { openGatewayLogStore } from "#events/read/store.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";
import { RENEW_WITHIN_MS } from "#jobs/renew-certificates.ts";
import type { ServerHealth } from "#model/access/server-health.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { createPublisher, type Publisher } from "#snapshot/publisher.ts";
import type { Closing } from "#app/operations/disposables.ts";
import type { ComposeDeps } from "./compose-deps.ts";
import { clickHouseOf } from "#app/planes/plane-configs.ts";
import { controlConfig } from "./control-config.ts";
import { createEventReader, createGatewayLogReader, type EventReader, type GatewayLogReader } from "./event-reader.ts";
import { createLogBatches, type LogBatches } from "./log-batches.ts";
import { createFeedSource } from "./feed-source.ts";
import { nodeIdIn } from "./node-id.ts";
import { createSecondaryReports } from "#app/operations/secondary-reports.ts";
import type { State } from "./state.ts";

/** The use-cases, over the stored data and the planes' logs. */
export interface OpenedControl {
  readonly control: Control;
  readonly reader: EventReader;
  readonly logReader: GatewayLogReader;
  readonly batches: LogBatches;
  readonly sharedLogs: SharedLogs;
}

/** `urlOfGateways`, `tunnelPort` and `nameserver` are called once the planes serve. */
export async function openControl(
  { config, log, clock, operatorPorts }: ComposeDeps,
  { store, sealer, ca, files, withDatabase }: State,
  {
    metrics,
    sharedLimits,
    urlOfGateways,
    tunnelPort,
    nameserver,
    urlOfApi,
    serverHealth,
    heardNodes,
  }: {
    readonly metrics: MetricRegistry;
    readonly sharedLimits: SharedLimits;
    urlOfGateways(): string;
    tunnelPort(): number;
    nameserver(): string | undefined;
    urlOfApi(): string;
    serverHealth(): Promise<ServerHealth>;
    heardNodes(): ReadonlyMap<string, SeenReport>;
  },
  closing: Closing,
): Promise<OpenedControl> {
  const events = openEventQueries(files.events);
  closing.add(() => events.close());
  const logReader = createGatewayLogReader(files.events, log);
  closing.add(() => logReader.close());
  const gatewayLogStore = openGatewayLogStore(files.events, logReader.reads);
  closing.add(() => gatewayLogStore.close());
  const reader = createEventReader(files.events, log, clickHouseOf(config));
  closing.add(() => reader.close());
  const sharedLogs = createSharedLogs({
    ...{ store, sealer, clock, logs: gatewayLogStore, server: nodeIdIn(files.nodeId) },
    onMissed: () => log.warn({}, "this server was away for too long: logs of gateways that others took meanwhile are not in its lists"),
  });
  const batches = createLogBatches(log);
  closing.add(() => batches.close());
  const control = createControl({
    ...{ store, clock, sealer, sharedLimits, events, gatewayLogStore, sharedLogs, ca, urlOfGateways, nameserver, serverHealth, heardNodes },
    tunnelEndpoint: () => ({
      e: `${config.dns.name_servers[0] ?? config.edge.host[0]}:${tunnelPort()}`,
      c: new X509Certificate(readFileSync(files.localRoot)).raw.toString("base64"),
    }),
    eventReads: reader.reads,
    nodeId: nodeIdIn(files.nodeId),
    logSegments: logSegmentsOf(files.events),
    readLogBatch: batches.read,
    ...controlConfig(config),
    images: {
      directory: files.images,
      bucket: config.images.in_s3 ? openObjectStore(config, clock, "images.in_s3") : null,
      url: () => config.images.url || urlOfApi(),
      perAccountMax: config.images.per_account_max,
      accountBytesMax: config.images.account_bytes_max,
    },
    parentServers: { isAllowed: createAddressPolicy(addressesOf(config.dns.host), [], operatorPorts) },
    primaryAllowed: createAddressPolicy(addressesOf(config.api.host), config.dns.primary_allow, operatorPorts),
    webhookAllowed: createAddressPolicy(addressesOf(config.api.host), config.notifications.webhook_allow, operatorPorts),
    onOrderError: (error) => log.error({ err: error }, "processing a certificate order failed"),
    onSecondaryChecked: createSecondaryReports(log, metrics),
  });
  closing.add(() => control.access.close());
  closing.add(() => control.secondaries.close());
  closing.add(() => control.removals.close());
  closing.add(() => control.logpush.pusher.close());
  closing.add(() => control.certificateOrdering.close());
  await withDatabase(async () => {
    await control.certificateOrdering.orders.resume();
    await tellConflicts(control, log);
    await control.serviceCertificate.ensure(systemCall("start"), RENEW_WITHIN_MS);
  });
  return { control, reader, logReader, batches, sharedLogs };
}

const CONFLICTS_TOLD_MAX = 20;

/** Zones from before names had owners are still served; the operator decides their ownership. */
async function tellConflicts({ zoneSettling }: Control, log: ComposeDeps["log"]): Promise<void> {
  const conflicts = await zoneSettling.conflicts();
  if (conflicts.length === 0) return;
  const zones = conflicts.slice(0, CONFLICTS_TOLD_MAX).map(conflictText);
  log.warn({ count: conflicts.length, zones }, "some zones have disputed names; run selvedge zone settle");
}

/** The feed of the planes, from the stored data. */
export async function openPublisher(
  { log }: ComposeDeps,
  { store, files, lastGood }: State,
  control: Control,
  closing: Closing,
): Promise<Publisher> {
  const publisher = createPublisher({
    source: createFeedSource(store, control.access),
    lastGoodPath: files.lastGood,
    lastGood,
    log: (level, message, fields) => log[level](fields ?? {}, message),
  });
  await publisher.start();
  store.followedBy(publisher.isFollowed);
  closing.add(() => publisher.close());
  return publisher;
}
