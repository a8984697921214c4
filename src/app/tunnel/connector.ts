import { createMessageTurns } from "#kernel/process/message-turns.ts";
import { EDGE_LIMITS } from "#edge/config.ts";
import type { Clock } from "#kernel/clock.ts";
import { createTimers } from "#kernel/timers.ts";
import { compileIngress } from "#model/tunnels/ingress-rules.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import type { SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { type ClientOwner, REQUESTS_AHEAD_PER_TICK } from "#wire/connections/http/client-owner.ts";
import { FRAME } from "#wire/tunnel/frames.ts";
import type { Log } from "#app/log/log.ts";
import { packageVersion } from "#app/config/package-version.ts";
import { type Destination, EdgeConnection, type EdgeConnectionOwner } from "./edge-connection.ts";
import { ServedStream } from "./served-stream.ts";
import { createServicePools } from "./service-pools.ts";
import type { Serving } from "./serving.ts";
import type { TunnelToken } from "./tunnel-token.ts";

/** Dials out to the edge, and sends the requests that come back to services. */
export interface Connector {
  /** Whether the edge has refused the token for good, and has not accepted it since. */
  isRefused(): boolean;
  /** Resolves when the first connection serves. */
  readonly serving: Promise<void>;
  /** Takes no more requests, lets those under way end within the time, then closes. */
  stop(timeoutMs: number): Promise<void>;
}

export interface ConnectorDeps {
  readonly token: TunnelToken;
  /** Names the process that runs it, also if it has a connector for each of several edges. */
  readonly id: string;
  /** Where to dial, if it is not what the token says. */
  readonly edge: { readonly host: string; readonly port: number } | null;
  /** Rules of the command line; null: those of the API. */
  readonly ingress: IngressConfig | null;
  /** At least so many connections. */
  readonly connections: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Null: Node.js dials services. */
  readonly socketCalls: SocketCalls | null;
  /** Called with the reason for each refusal while `isRefused`. The connector dials on, because a machine may be late to learn of the tunnel. */
  onRefused(reason: string): void;
}

/** Between two attempts: doubled from the first to the last, with a random part so that not all connectors dial at once. */
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 30_000;
/** Connections that are dialled to find a thread without one: the kernel chooses the thread. */
const SPARE_DIALS = 8;
const CONNECTIONS_MAX = 64;
/** The edge refuses for good after so many refusals in a row: a new secret may still be on its way to it. */
const REFUSALS_MAX = 3;

export function createConnector(deps: ConnectorDeps): Connector {
  const { token, clock, log } = deps;
  const timers = createTimers(clock);
  const report = (error: unknown): void => log.error({ err: error }, "a request failed in the connector");
  let isDraining = false;
  let rules = compileIngress(deps.ingress ?? {});
  const all = new Set<EdgeConnection>();
  const serving = Promise.withResolvers<void>();
  let refusals = 0;
  let failures = 0;
  let dialling: NodeJS.Timeout | undefined;
  let threads = 1;
  let hasWarned = false;

  const owner: ClientOwner = {
    timers,
    deadlines: { ...EDGE_LIMITS, idleTimeoutMs: EDGE_LIMITS.originIdleTimeoutMs * 4 },
    connections: new Set(),
    turns: createMessageTurns(REQUESTS_AHEAD_PER_TICK),
    isDraining: () => isDraining,
    report,
  };
  // Longer reads of services are longer frames, of which the edge has less work.
  const loop = deps.socketCalls === null ? null : new SocketLoop(deps.socketCalls, report);
  const services = createServicePools({ clock, timers, log, loop, report });

  const destination: Destination = {
    address: deps.edge?.host ?? token.host,
    port: deps.edge?.port ?? token.port,
    serverName: token.host || (deps.edge?.host ?? ""),
    authorities: token.authority === null ? [] : [pem(token.authority)],
    hello: JSON.stringify({
      ...{ a: token.account, t: token.tunnel, s: token.secret },
      connector: {
        ...{ id: deps.id, version: packageVersion(), arch: `${process.platform}_${process.arch}`, features: ["tcp"] },
        run_at: new Date(clock.nowMs()).toISOString(),
      },
    }),
  };
  const standing = (): EdgeConnection[] => [...all].filter((one) => one.isServing);
  const covered = (): number => new Set(standing().map(({ welcome }) => welcome?.thread)).size;
  /** Whether another connection is wanted: too few, or a thread without one. */
  const wantsMore = (): boolean => {
    const count = standing().length;
    if (count < deps.connections) return true;
    return covered() < threads && count < Math.min(CONNECTIONS_MAX, deps.connections + threads * SPARE_DIALS);
  };
  const dial = (): void => {
    dialling = undefined;
    if (isDraining || !wantsMore()) return;
    const connection = new EdgeConnection(events, destination);
    all.add(connection);
    timers.add(connection.session);
  };
  const dialLater = (afterMs: number): void => {
    if (isDraining || dialling !== undefined) return;
    dialling = setTimeout(dial, afterMs);
  };

  const events: EdgeConnectionOwner = {
    onStream: (stream) => void new ServedStream(streams, stream),
    onWelcome: (connection) => {
      refusals = failures = 0;
      threads = connection.welcome?.threads ?? 1;
      log.info({ connection: connection.welcome?.connection, connections: standing().length }, "connected to the edge");
      serving.resolve();
      dialLater(0);
    },
    onConfig: ({ version, rules: config }) => {
      if (deps.ingress !== null) return false;
      try {
        rules = compileIngress(config as IngressConfig);
      } catch (error) {
        log.error({ err: error, version }, "the rules of the tunnel cannot be used; the ones before stay");
        return false;
      }
      log.info({ version, rules: rules.length }, "using the rules of the tunnel");
      hasWarned = false;
      return true;
    },
    onChanged: (connection) => {
      if (isDraining && connection.session.streams.size === 0) connection.session.destroySoon();
      // The edge ends: its streams go on, and others go elsewhere.
      else if (connection.session.isDraining) dialLater(0);
    },
    onClosed: (connection, code, refusal) => {
      all.delete(connection);
      timers.remove(connection.session);
      if (isDraining) return;
      if (refusal !== "") {
        log.error({ reason: refusal }, "the edge refused the connection");
        if (++refusals >= REFUSALS_MAX) deps.onRefused(refusal);
      } else log.warn({ code: code || "closed", connections: standing().length }, "a connection to the edge ended; dialling again");
      const waitMs = Math.min(RETRY_FIRST_MS * 2 ** failures++, RETRY_LAST_MS);
      dialLater(waitMs / 2 + Math.random() * (waitMs / 2));
    },
  };

  const streams: Serving = {
    ...{ owner, rules: () => rules, pools: services.of },
    onUnset: () => {
      if (!hasWarned) log.warn("no ingress rule is configured, so requests get 503: write rules with PUT …/configurations, or use --url");
      hasWarned = true;
    },
  };
  const connector: Connector = {
    isRefused: () => refusals >= REFUSALS_MAX,
    serving: serving.promise,
    stop: async (timeoutMs) => {
      isDraining = true;
      clearTimeout(dialling);
      for (const { session } of all) session.send(FRAME.drain, 0);
      for (const connection of [...owner.connections]) connection.drain();
      for (const { session } of [...all]) if (session.streams.size === 0) session.destroySoon();
      const untilMs = clock.monotonicMs() + timeoutMs;
      while (all.size > 0 && clock.monotonicMs() < untilMs) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      for (const { session } of [...all]) session.destroy("");
      services.close();
      timers.close();
    },
  };
  dial();
  return connector;
}

const STEP_MS = 20;

const pem = (der: Buffer): string => `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
