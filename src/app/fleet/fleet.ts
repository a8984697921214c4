import { setTimeout as delay } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { openBusAuthority } from "#control/nodes/bus-authority.ts";
import { planeKeys, sealedForNodes } from "#control/nodes/node-keys.ts";
import type { Rollouts } from "#control/nodes/rollouts.ts";
import { renewVisitorKeys } from "#control/nodes/visitor-keys.ts";
import { createEdgeAddresses } from "#control/nodes/edge-addresses.ts";
import type { SharedLogs } from "#control/gateways/shared-logs.ts";
import { AWAY_AFTER_MS, type Nodes, type SeenReport } from "#control/nodes/nodes.ts";
import { type BusPublisher, startBusPublisher } from "#snapshot/bus/bus-publisher.ts";
import type { FeedSource } from "#snapshot/feed.ts";
import { releaseLeases, takeLease } from "#store/nodes/leases.ts";
import { allNodes, findNode, revokedNodeKeys } from "#store/nodes/nodes.ts";
import type { Store } from "#store/database/store.ts";
import type { Config } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";
import type { PlaneReports } from "#app/planes/planes-deps.ts";
import type { NodePlane } from "#model/access/node.ts";
import { keepConnected } from "./bus-connection.ts";
import type { JoinAnswer } from "./join-answer.ts";
import { createNoticeCollector } from "./notice-collector.ts";
import { createEventCollector } from "./event-collector.ts";
import { createPieceSenders } from "./signed-pieces.ts";
import { createSharedPlaces } from "./shared-places.ts";
import { openRolloutTurn } from "./rollout-turn.ts";
import { createRemoteNodes } from "./remote-nodes.ts";

/** Control's side of the bus. */
export interface Fleet {
  /** Null if the token is unknown, used or too old. */
  join(token: string, publicKey: string, signsEvents: boolean): Promise<JoinAnswer | null>;
  settled(rev: number, timeoutMs: number, isPatient?: boolean): Promise<{ readonly behind: readonly string[] }>;
  /** The newest report of each node. */
  readonly heard: ReadonlyMap<string, SeenReport>;
  close(): Promise<void>;
}

export interface FleetDeps {
  readonly config: Config;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
  readonly source: FeedSource;
  readonly nodes: Nodes;
  readonly rollouts: Rollouts;
  /** Addresses of edges beside those of nodes. */
  readonly edgeAddresses: readonly string[];
  /** Called with the addresses of all nodes' edges when they change. */
  onEdgeAddresses(addresses: readonly string[]): void;
  /** Takes what planes of nodes report. */
  readonly reports: PlaneReports;
  /** A new port to the writer of events. */
  writerPort(): MessagePort;
  readonly sharedLogs: SharedLogs;
  /** Distinguishes this process from others on the same database. */
  readonly nodeId: string;
  /** PEM of the local certificate authority, which edges trust at origins. */
  readonly localRoot: string;
  /** PEM of the authority of the bus's certificate; empty without one. */
  readonly busRoot: string;
}

const DUTY = "bus";
const LEASE_MS = 5_000;
/** Before the lease ends, by the clock of this process, which starts to count before the database does. */
const LEADS_MS = 4_000;
const TURN_MS = 1_000;
/** A server with a wiped directory accepts no connection until it gets the account. */
const CLAIMS_EVERY_TURNS = 60;
const REPORTS_KEPT_EVERY_TURNS = 5;
const LOGS_TRIMMED_EVERY_TURNS = 10;
const CLAIMS_TIMEOUT_MS = 3_000;
/** A server that answers no ping within this time brings no reports either. */
const PING_TIMEOUT_MS = 1_000;
/** How problems of an edge's threads begin. */
const OF_EDGE = /^edge\b/;

/** Publishes the changes while this process leads, admits nodes and disconnects removed ones, and receives reports of nodes. */
export async function openFleet(deps: FleetDeps): Promise<Fleet> {
  const { config, store, sealer, clock, log, source, nodes, nodeId } = deps;
  const authority = await openBusAuthority({ store, sealer, clock });
  let leadsUntil = -1;
  const isLeading = (): boolean => clock.monotonicMs() < leadsUntil;
  let publisher: BusPublisher | null = null;
  const remote = createRemoteNodes({
    ...{ clock, log, onRefused: (rev) => publisher?.requestCopy(rev) },
    ...{ onReport: (name) => rings.heard(name), isHeld: (name) => rings.isHeld(name) },
  });
  const rings = await openRolloutTurn({
    ...{ rollouts: deps.rollouts, clock, log, isLeading, waitMs: config.rollout.wait_seconds * 1_000 },
    ...{ reports: () => remote.heard, announce: () => publisher?.announce() },
  });
  const events = createEventCollector({
    ...{ clock, isLeading, writerPort: deps.writerPort },
    ...{ places: createSharedPlaces(store, nodeId), senders: createPieceSenders(store), sharedLogs: deps.sharedLogs },
  });
  const planesOf = async (name: string): Promise<readonly NodePlane[] | null> => {
    const node = await findNode(store.read, name);
    return node === undefined || node.joined_on === null ? null : (JSON.parse(node.planes) as readonly NodePlane[]);
  };
  const notices = createNoticeCollector({ clock, isLeading, planesOf, reports: deps.reports, log });
  const shared = { url: config.bus.url, ca: config.bus.ca, log };
  let revoked = new Set<string>();
  let isPushed = false;
  const stopping = new AbortController();

  const pushClaims = async (): Promise<void> => {
    const connection = system.current();
    if (connection === null) return;
    for (const token of authority.accountTokens([...revoked]))
      await connection.request("$SYS.REQ.CLAIMS.UPDATE", token, { timeout: CLAIMS_TIMEOUT_MS });
    isPushed = true;
  };
  /** A server that returns may have lost its revocations, so they are pushed again. */
  const pushAtReturn = async (connection: NatsConnection): Promise<void> => {
    for await (const { type } of connection.status()) if (type === "reconnect") isPushed = false;
  };
  const system = keepConnected({
    ...shared,
    ...authority.systemUser(),
    name: "selvedge-system",
    onConnected: async (connection) => {
      void pushAtReturn(connection);
      await pushClaims();
    },
  });
  const control = keepConnected({
    ...{ ...shared, ...authority.controlUser(), name: "selvedge-control" },
    onConnected: async (connection) => {
      remote.listen(connection);
      events.listen(connection);
      notices.listen(connection);
      const started = await startBusPublisher({
        ...{ connection, source, key: authority.signingKey, publicKey: authority.publicKey, clock },
        log: (level, message, fields) => log[level](fields ?? {}, message),
        isLeading,
        rollout: rings.rollout,
        sealed: sealedForNodes(sealer),
      });
      publisher = started;
      void connection.closed().then(() => started.stop());
    },
  });

  const edges = createEdgeAddresses({
    ...{ store, clock, fixed: deps.edgeAddresses, onKnown: deps.onEdgeAddresses },
    isWell: (name) => {
      const report = remote.heard.get(name);
      const isHere = report !== undefined && clock.nowMs() - report.seenMs <= AWAY_AFTER_MS;
      // Without a copy an edge knows no hostname.
      return isHere && report.history !== "" && !report.problems.some((text) => OF_EDGE.test(text));
    },
    onChanged: (addresses) => log.info({ addresses }, "nameservers answer with these addresses for proxied names"),
    onNoneHealthy: () =>
      log.warn({}, "no edge of a node is healthy: where no other address is left, nameservers answer with those of all nodes"),
  });
  const lookAround = async (): Promise<void> => {
    const ping = control
      .current()
      ?.rtt()
      .then(() => false);
    const isDeaf = await Promise.race([ping ?? true, delay(PING_TIMEOUT_MS, true)]).catch(() => true);
    await edges.look({ mayWrite: isLeading(), isDeaf });
    await rings.look((await store.position()).history, isDeaf);
  };
  const lead = async (): Promise<void> => {
    const asked = clock.monotonicMs();
    if (await takeLease(store, DUTY, nodeId, LEASE_MS)) leadsUntil = asked + LEADS_MS;
  };
  const shutOut = async (turn: number): Promise<void> => {
    const keys = new Set(await revokedNodeKeys(store.read));
    const isNew = [...keys].some((key) => !revoked.has(key));
    revoked = keys;
    if (isNew || turn % CLAIMS_EVERY_TURNS === 0) isPushed = false;
    if (!isPushed) await pushClaims();
    if (!isNew) return;
    const names = new Set((await allNodes(store.read)).map(({ name }) => name));
    for (const name of remote.heard.keys()) if (!names.has(name)) remote.forget(name);
  };
  /** Others' logs may be many: other duties do not wait for them. */
  let looking: Promise<void> | null = null;
  const lookForLogs = (): void => {
    looking ??= attempt("reading the logs that other servers took", deps.sharedLogs.look(events.put)).finally(() => (looking = null));
  };
  const duties: readonly (readonly [string, (turn: number) => Promise<void>])[] = [
    ["taking the lease of the bus", lead],
    ["looking at the nodes", async () => remote.look((await store.position()).history)],
    ["looking for logs of other servers", async () => lookForLogs()],
    [
      "deleting logs that all servers have",
      async (turn) => (turn % LOGS_TRIMMED_EVERY_TURNS === 0 && isLeading() ? deps.sharedLogs.trim() : undefined),
    ],
    ["looking at the nodes' tunnels", async () => notices.look()],
    ["looking at addresses of edges and at the rollout", lookAround],
    ["shutting removed nodes out", shutOut],
    ["renewing the keys that edges share", async () => (isLeading() ? renewVisitorKeys({ store, sealer, clock }) : undefined)],
    [
      "keeping the nodes' reports",
      async (turn) => (turn % REPORTS_KEPT_EVERY_TURNS === 0 && remote.heard.size > 0 ? nodes.keepReports(remote.heard) : undefined),
    ],
  ];
  /** Each duty is tried again and again: only a new reason is logged, and its end. */
  const failing = new Map<string, string>();
  const attempt = async (name: string, duty: Promise<void>): Promise<void> => {
    const reason = await duty.then(
      () => null,
      (error: unknown) => String(error),
    );
    if (reason === null) {
      if (failing.delete(name)) log.info({}, `${name} works again`);
    } else if (failing.get(name) !== reason) {
      failing.set(name, reason);
      log.warn({ reason }, `${name} failed; trying again`);
    }
  };
  const run = async (): Promise<void> => {
    for (let turn = 1; !stopping.signal.aborted; turn++) {
      for (const [name, duty] of duties) await attempt(name, duty(turn));
      await delay(TURN_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  revoked = new Set(await revokedNodeKeys(store.read));
  await lead();
  await deps.sharedLogs.begin();
  // Until they report, nobody knows how far they are.
  remote.expect((await allNodes(store.read)).filter(({ joined_on }) => joined_on !== null).map(({ name }) => name));
  remote.look((await store.position()).history);
  const running = run();

  return {
    join: async (token, publicKey, signsEvents) => {
      const joined = await nodes.join(token, publicKey, signsEvents);
      return (
        joined && {
          ...{ name: joined.name, planes: joined.planes, jwt: authority.nodeToken(joined.name, publicKey) },
          bus: { url: config.bus.node_url || config.bus.url, root: deps.busRoot },
          control_key: authority.publicKey.export({ format: "pem", type: "spki" }) as string,
          local_root: deps.localRoot,
          keys: Object.fromEntries(joined.planes.map((plane) => [plane, planeKeys(sealer, plane)])),
        }
      );
    },
    settled: remote.settled,
    heard: remote.heard,
    close: async () => {
      stopping.abort();
      await running;
      await looking;
      remote.close();
      events.close();
      await Promise.all([control.close(), system.close()]);
      await publisher?.stop();
      await releaseLeases(store, [DUTY], nodeId).catch(() => undefined);
    },
  };
}
