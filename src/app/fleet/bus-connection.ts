import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connect, jwtAuthenticator, type NatsConnection, type TlsOptions } from "@nats-io/transport-node";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { type Clock, systemClock } from "#kernel/clock.ts";
import type { Log } from "#app/log/log.ts";

/** A connection to the bus that is made again for as long as the process runs. */
export interface BusConnection {
  /** Null while it is away. */
  current(): NatsConnection | null;
  /** Time for which the bus has not let us in, although it answers; null if it does, or is away. */
  refusedMs(): number | null;
  close(): Promise<void>;
}

export interface BusConnectionDeps {
  /** `nats://…` or `tls://…`. */
  readonly url: string;
  /** PEM file of the authority of the server's certificate; empty: the system's authorities. */
  readonly ca: string;
  readonly jwt: string;
  readonly seed: Uint8Array;
  /** Shown in the server's monitoring. */
  readonly name: string;
  readonly inboxPrefix?: string;
  readonly log: Log;
  readonly clock?: Pick<Clock, "monotonicMs">;
  /** Called with each new connection; a failure closes it. */
  onConnected(connection: NatsConnection): Promise<void> | void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const PING_EVERY_MS = 2_000;
const RETRY_MS = 1_000;
const REFUSED = /authorization|authentication/i;

/** An address is named to the check of the certificate: the client of NATS names host names only, and `localhost` would be checked for an address. */
function tlsOf(url: string, ca: string): TlsOptions {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const address = isIP(host) === 0 ? {} : { host };
  return { ...(ca === "" ? {} : { ca: readRegularFile(ca).toString() }), ...address };
}

export function keepConnected(deps: BusConnectionDeps): BusConnection {
  const { url, log, clock = systemClock } = deps;
  const stopping = new AbortController();
  let current: NatsConnection | null = null;
  let refusedSinceMs: number | null = null;
  const open = (): Promise<NatsConnection> =>
    connect({
      servers: url,
      name: deps.name,
      authenticator: jwtAuthenticator(deps.jwt, deps.seed),
      ...(url.startsWith("tls:") ? { tls: tlsOf(url, deps.ca) } : {}),
      ...(deps.inboxPrefix === undefined ? {} : { inboxPrefix: deps.inboxPrefix }),
      ...{ timeout: CONNECT_TIMEOUT_MS, pingInterval: PING_EVERY_MS, maxPingOut: 2 },
      ...{ maxReconnectAttempts: -1, reconnectTimeWait: 100, reconnectJitter: 200 },
      // A stack for each request costs control more than the rest of the request.
      noAsyncTraces: true,
    });
  /** The client of NATS connects again by itself, and says so nowhere else. */
  const tell = async (connection: NatsConnection): Promise<void> => {
    let isAway = false;
    for await (const { type } of connection.status()) {
      if (type === "disconnect" && !isAway) log.warn({}, "the bus is away; trying to connect again");
      if (type === "reconnect") log.info({ server: connection.getServer() }, "connected to the bus again");
      if (type === "disconnect" || type === "reconnect") isAway = type === "disconnect";
    }
  };
  const follow = async (): Promise<string> => {
    const connection = await open();
    current = connection;
    refusedSinceMs = null;
    log.info({ server: connection.getServer() }, "connected to the bus");
    void tell(connection);
    try {
      await deps.onConnected(connection);
      const error = await connection.closed();
      return error === undefined ? "it was closed" : error.message;
    } finally {
      current = null;
      await connection.close();
    }
  };
  const run = async (): Promise<void> => {
    for (let said = ""; !stopping.signal.aborted;) {
      const reason = await follow().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (stopping.signal.aborted) return;
      const isRefused = REFUSED.test(reason);
      refusedSinceMs = isRefused ? (refusedSinceMs ?? clock.monotonicMs()) : null;
      const advice = isRefused
        ? `. The bus does not let ${deps.name} in: it was removed, or the bus has the keys of another installation`
        : "";
      if (reason !== said) log.warn({ reason }, `the bus is not connected; trying again${advice}`);
      said = reason;
      await delay(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    current: () => current,
    refusedMs: () => (refusedSinceMs === null ? null : clock.monotonicMs() - refusedSinceMs),
    close: async () => {
      stopping.abort();
      await current?.close();
      await running;
    },
  };
}
