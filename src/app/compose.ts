import { createApi } from "#api/server.ts";
import { ROUTES } from "#api/routes/table.ts";
import { bootstrap, firstTokenShown } from "#control/access/bootstrap.ts";
import { systemCall } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { createControl } from "#control/create.ts";
import { openGatewayLogStore } from "#events/logs/store.ts";
import { openEventQueries } from "#events/queries.ts";
import { isoMicros, type Clock } from "#kernel/clock.ts";
import { startJobs } from "#jobs/job.ts";
import { refreshSecondaries } from "#jobs/refresh-secondaries.ts";
import { removeAbandonedImports } from "#jobs/remove-abandoned-imports.ts";
import { RENEW_WITHIN_MS, renewCertificates } from "#jobs/renew-certificates.ts";
import { sendNotifications } from "#jobs/send-notifications.ts";
import { watchDnssec } from "#jobs/watch-dnssec.ts";
import { watchSecurityEvents } from "#jobs/watch-security-events.ts";
import { createMetrics } from "#kernel/metrics.ts";
import { createSealer } from "#kernel/seal.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { openKeyFile, verifyKey } from "#store/key-file.ts";
import { databaseExists, openStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { hasBootstrapToken } from "#store/tokens.ts";
import { planeAddresses, portOf } from "./addresses.ts";
import { startAnnouncements } from "./announcements.ts";
import { unsafeBinds } from "./bind-safety.ts";
import { createClosing } from "./closing.ts";
import { databaseUrl, type Config } from "./config.ts";
import { apiConfig, controlConfig, presets } from "./control-config.ts";
import { lockDataDirectory } from "./data-lock.ts";
import type { EarlyThreads } from "./early-threads.ts";
import { createEventReader } from "./event-reader.ts";
import { createFeedSource } from "./feed-source.ts";
import { openLocalAuthority } from "./local-authority.ts";
import type { Log } from "./log.ts";
import { addOperations } from "./operations.ts";
import { planeFiles } from "./plane-files.ts";
import { startPlanes, type Planes } from "./planes.ts";
import type { ReadyLine } from "./ready.ts";
import { removeRunFile, writeRunFile } from "./run-file.ts";
import { createSecondaryReports } from "./secondary-reports.ts";
import { readTls } from "./tls-files.ts";

/** A server that serves on every plane. */
export interface Running {
  readonly ready: ReadyLine;
  /** To be called once `ready` was printed: the first token is not told again. */
  shown(): Promise<void>;
  /** Drains the planes and the API within the time, then closes the databases. */
  close(drainMs: number): Promise<void>;
}

export interface ComposeDeps {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** The planes' threads, which have begun to load. */
  readonly early: EarlyThreads;
}

/**
 * Wires everything, in the order in which things need each other: state, control, feed, planes, API. What has been
 * opened is closed again in the reverse order, when a later step fails as well as at the end.
 */
export async function compose({ config, log, clock, early }: ComposeDeps): Promise<Running> {
  const closing = createClosing();
  try {
    const tls = readTls(config.tls);
    const lock = lockDataDirectory(config.data);
    closing.add(() => lock.release());
    const files = planeFiles(config.data);
    const url = databaseUrl(config);
    const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: await databaseExists(url) }));
    const store = await openStore({ url, clock });
    closing.add(() => store.close());
    await verifyKey(store, sealer, isoMicros(clock.nowMicros()));
    const first = await bootstrap({ store, clock, sealer, email: config.bootstrap.email, ...presets(config) });
    await refuseUnsafeBinds(config, store);
    const ca = await openLocalAuthority({ store, sealer, clock, dataDir: config.data });
    const events = openEventQueries(files.events);
    closing.add(() => events.close());
    const gatewayLogStore = openGatewayLogStore(files.events);
    closing.add(() => gatewayLogStore.close());
    const reader = createEventReader(files.events, log);
    closing.add(() => reader.close());
    const metrics = createMetrics();
    let urlOfGateways = "";
    const control = createControl({
      store,
      clock,
      sealer,
      events,
      gatewayLogStore,
      eventReads: reader.reads,
      ca,
      ...controlConfig(config),
      urlOfGateways: () => urlOfGateways,
      onSecondaryChecked: createSecondaryReports(log, metrics),
    });
    closing.add(() => control.access.close());
    closing.add(() => control.secondaries.close());
    await control.serviceCertificate.ensure(systemCall("start"), RENEW_WITHIN_MS);

    const publisher = createPublisher({
      source: createFeedSource(store, control.access),
      lastGoodPath: files.lastGood,
      log: (level, message, fields) => log[level](fields ?? {}, message),
    });
    await publisher.start();
    closing.add(() => publisher.close());
    const planes = await startPlanes({
      config,
      tls,
      publisher,
      log,
      files,
      early,
      onNotified: notifier(control, log),
      onReaddressed: refetcher(control, log),
      onDefaultGateway: gatewayMaker(control, log),
    });
    closing.addDraining((drainMs) => planes.stop(drainMs));
    urlOfGateways = planeAddresses(config, 0, planes.ports).gateway;

    const api = createApi({
      control,
      routes: ROUTES,
      clock,
      metrics,
      log,
      settled: (rev) => publisher.settled(rev, config.api.settle_timeout_ms),
      config: apiConfig(config, tls),
    });
    addOperations(api, {
      samples: async () => [
        ...metrics.samples(),
        ...(await Promise.all([reader, ...planes.workers].map((thread) => thread.metrics()))).flat(),
      ],
      notReady: () => silentPlanes(planes.workers),
    });
    closing.addDraining(() => api.close());
    const announcements = await startAnnouncements({ config, store, sealer, clock, metrics, publisher, log });
    closing.add(() => announcements.close());
    const duties = [
      renewCertificates(control),
      watchDnssec(control.dnssecWatch),
      refreshSecondaries(control.secondaries),
      removeAbandonedImports(control.zoneFiles),
      watchSecurityEvents(control.notifications.watch),
      sendNotifications(control.notifications.deliveries),
    ];
    const jobs = startJobs(duties, log);
    closing.add(() => jobs.stop());
    await api.listen({ host: config.api.host, port: config.api.port });

    const addresses = planeAddresses(config, portOf(api.server.address()), planes.ports);
    // The monotonic scale begins with the process, so this counts loading the program too.
    const took_ms = Math.round(clock.monotonicMs());
    writeRunFile(config.data, { pid: process.pid, ...addresses, started_at: new Date(clock.nowMs()).toISOString() });
    closing.add(() => removeRunFile(config.data));
    const { account_id, token } = first;
    const ready: ReadyLine = { event: "ready", ...addresses, account_id, ...(token === null ? {} : { token }), pid: process.pid, took_ms };
    return { ready, shown: async () => (token === null ? undefined : firstTokenShown(store)), close: closing.close };
  } catch (error) {
    await closing.close(0);
    throw error;
  }
}

/** Longer than any turn of a busy thread. */
const ANSWER_LIMIT_MS = 3_000;

async function silentPlanes(workers: Planes["workers"]): Promise<readonly string[]> {
  const reasons = await Promise.all(
    workers.map(async (worker) => {
      if (!worker.isUp()) return [`${worker.name} is down`];
      return (await worker.answers(ANSWER_LIMIT_MS)) ? [] : [`${worker.name} does not answer`];
    }),
  );
  return reasons.flat();
}

/** A thread's word of a changed zone; nobody waits for what comes of it. */
const notifier =
  ({ secondaries }: Control, log: Log) =>
  (zoneId: string, from: string): void =>
    void secondaries
      .notified(zoneId, from)
      .catch((error: unknown) => log.error({ err: error, zone_id: zoneId }, "a notified zone was not checked"));

/** Those who fetch a flattened zone learn by its serial that its apex has other addresses. */
const refetcher =
  ({ apexAddresses }: Control, log: Log) =>
  (zoneId: string, addresses: string): void =>
    void apexAddresses
      .changed(systemCall("flattening"), zoneId, addresses)
      .catch((error: unknown) =>
        log.error({ err: error, zone_id: zoneId }, "a zone's serial was not raised for the addresses of its apex"),
      );

/** The first use of an account's default gateway makes it. */
const gatewayMaker =
  ({ gateways }: Control, log: Log) =>
  (accountId: string, atMs: number): void =>
    void gateways
      .ensureDefault(systemCall("gateway"), accountId, atMs)
      .catch((error: unknown) => log.error({ err: error, account_id: accountId }, "an account's default gateway was not made"));

async function refuseUnsafeBinds(config: Config, store: Store): Promise<void> {
  const reasons = unsafeBinds(config, await hasBootstrapToken(store.read));
  if (reasons.length > 0)
    throw new Error(`this configuration listens beyond this machine. ${reasons.join(". ")}. insecure_bind allows it all the same`);
}
