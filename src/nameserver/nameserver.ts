import type { Clock } from "#kernel/clock.ts";
import type { EventSink } from "#events/rows/rows.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { createApexWatch } from "#nameserver/transfers/flattening-refresh.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import type { FeedLog, Replica, Rest } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";
import { createAnswerCache } from "#nameserver/responder/answer-cache.ts";
import { createClientOptions } from "#nameserver/message/client-options.ts";
import type { NameserverConfig } from "./config.ts";
import { createCookies } from "#nameserver/message/cookies.ts";
import { createCounters } from "#nameserver/message/counters.ts";
import { createBackgroundSigner } from "./dnssec/background-signer.ts";
import { createSigner } from "./dnssec/signer.ts";
import { createLiveEdgeFront } from "#nameserver/zones/proxied-records.ts";
import { type Listeners, createListeners, type NameserverPorts } from "#nameserver/listen/listeners.ts";
import { createNotifications } from "#nameserver/transfers/notify-receiver.ts";
import { createExternalLookups } from "#nameserver/external/external.ts";
import { createQueryLog } from "#nameserver/responder/query-log.ts";
import { createQuickAnswers } from "#nameserver/responder/fast-path.ts";
import { createRateLimit } from "#nameserver/limits/rate-limit.ts";
import { createResponder } from "#nameserver/responder/respond.ts";
import { createTsigCheck } from "#nameserver/tsig/tsig-check.ts";
import type { SystemSockets } from "#nameserver/listen/system-sockets.ts";
import { createTransferPartners } from "#nameserver/tsig/transfer-acl.ts";
import { createTransfersOut } from "#nameserver/transfers/xfr-server.ts";
import { createZoneJournal } from "#nameserver/zones/zone-journal.ts";
import { readHost } from "#nameserver/zones/entry-decoders.ts";
import { createZones } from "#nameserver/zones/zones.ts";

export interface Nameserver {
  /** Starts answering and resolves to the ports; rejects with the system's error if one cannot be bound. */
  listen(): Promise<NameserverPorts>;
  readonly sockets: Listeners["sockets"];
  /** Stops reading queries. Connections whose clients do not read their answers in time are cut off. `idleMs`: see DrainTimes. */
  close(timeoutMs: number, idleMs?: number): Promise<void>;
}

export interface NameserverDeps {
  readonly replica: Replica;
  readonly metrics: MetricRegistry;
  /** Receives rows of the query log. */
  readonly events: EventSink;
  readonly config: NameserverConfig;
  readonly clock: Clock;
  /** 16 bytes that all servers of a name share, so that cookies are valid at each of them (RFC 9018 §5). */
  readonly cookieSecret: Uint8Array;
  /** Decrypts TSIG keys and the keys of signed zones. */
  readonly sealer: Sealer;
  readonly log: FeedLog;
  /** Called when a primary announces a change of a secondary zone. */
  readonly onNotified: (zoneId: string, from: string) => void;
  /**
   * Called when a flattened apex of a zone that other servers transfer has other addresses. The text is equal for equal
   * addresses.
   */
  readonly onReaddressed: (zoneId: string, addresses: string) => void;
  /** Handles many datagrams per system call. Without it, one at a time, with the same answers. */
  readonly sockets?: SystemSockets | undefined;
}

/** The authoritative nameserver. Answers from a delta as soon as the replica's listener returns. */
export function createNameserver(deps: NameserverDeps): Nameserver {
  const { replica, metrics, config, clock, cookieSecret, sealer, log, onNotified, onReaddressed, sockets } = deps;
  const { limits } = config;
  const partners = createTransferPartners(replica.snapshot, sealer);
  const journal = createZoneJournal({ wants: (zoneId) => partners.outgoing(zoneId) !== undefined, weightMax: limits.journalWeightMax });
  const { front: edge, use: useEdges } = createLiveEdgeFront(config.edgeAddresses, config.edgeProtocols);
  const { signAnswer, signatures: zoneSignatures } = createSigner({ ...deps, edge });
  const backgroundSigner = createBackgroundSigner({ zones: () => zones, edge, signatures: zoneSignatures, clock });
  const zones = createZones([journal, backgroundSigner]);
  const cache = createAnswerCache({ entriesMax: limits.cacheEntriesMax, clock });
  const zoneGauge = metrics.gauge("selvedge_dns_zones", "Zones served by the nameserver");
  const rejectedGauge = metrics.gauge("selvedge_dns_rejected_entries", "Invalid snapshot entries since the last full copy");
  const counters = createCounters(metrics);
  const cookies = createCookies(cookieSecret);
  const clientOptions = createClientOptions({ cookies, nsid: config.nsid, limits, clock });
  const rateLimit = createRateLimit(config.rateLimit);
  const outside = createExternalLookups({ resolvers: config.resolvers, zones, clock, metrics, limits: limits.outside });
  const transfers = createTransfersOut({
    zones,
    edge,
    partners,
    journal,
    zoneSignatures,
    findOutside: outside.findNow,
    clock,
    metrics,
    limits,
    log,
  });
  const signatures = createTsigCheck({ zones, partners, clock });
  const notifications = createNotifications({ zones, partners, metrics, onNotified });
  const apexWatch = createApexWatch({ zones, edge, partners, outside, intervalMs: limits.apexWatchMs, onReaddressed });
  const respond = createResponder({
    zones,
    edge,
    cache,
    counters,
    clientOptions,
    signAnswer,
    signatures,
    notifications,
    transfers,
    outside,
    clock,
    rateLimit,
  });
  const quickAnswer = createQuickAnswers({ cache, counters, cookies, rateLimit });
  const queryLog = createQueryLog({ events: deps.events, zones, clock });
  const certificates = createCertificates({
    replica,
    sealer,
    contextsMax: limits.tlsContextsMax,
    zoneIdOf: (serverName) => readHost(serverName).map((key) => zones.nearestZone(key, null)?.id ?? null)[0] ?? null,
    keysNotOpened: metrics.counter(
      "selvedge_dns_certificate_keys_not_opened_total",
      "Certificates whose private key could not be decrypted",
    ),
  });
  const listeners = createListeners({
    config,
    metrics,
    responders: { respond: queryLog.around(respond), openStream: transfers.open },
    quickAnswer: queryLog.aroundQuick(quickAnswer),
    clock,
    certificates,
    sockets,
    log,
  });

  const count = (): void => {
    zoneGauge.value = zones.zoneCount;
    rejectedGauge.value = zones.rejected;
  };
  let edgeAddresses: readonly string[] | null = null;
  const turnToEdges = (): void => {
    if (!useEdges(edgeAddresses)) return;
    cache.clear();
    journal.outdate();
    backgroundSigner.sweep();
  };
  // Before the zones: a delta that raises serials may have the addresses too.
  followKind(replica, "edge_addresses", {
    clear: () => void (edgeAddresses = null),
    put: (_id, { addresses }) => void (edgeAddresses = addresses),
    remove: () => void (edgeAddresses = null),
    changed: turnToEdges,
  });
  turnToEdges();
  zones.rebuild(replica.snapshot);
  backgroundSigner.sweep();
  outside.prepare(replica.snapshot, null);
  count();
  replica.onApplied((ops) => {
    let rest: Rest | undefined;
    if (ops === null) {
      zones.rebuild(replica.snapshot);
      journal.clear();
      backgroundSigner.sweep();
      cache.clear();
    } else {
      const changes = zones.apply(ops);
      ({ rest } = changes);
      if (changes.namespace) cache.clear();
      else cache.dropZones(changes.zones);
    }
    outside.prepare(replica.snapshot, ops);
    count();
    return rest;
  });

  return {
    listen: listeners.open,
    sockets: listeners.sockets,
    close: async (timeoutMs, idleMs) => {
      backgroundSigner.close();
      await listeners.close(timeoutMs, idleMs);
      apexWatch.close();
      outside.close();
      queryLog.close();
    },
  };
}
