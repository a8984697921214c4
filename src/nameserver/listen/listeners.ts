import type { Clock } from "#kernel/clock.ts";
import { createServer as createTlsServer } from "node:tls";
import { parseIp } from "#kernel/net/ip.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { type Certificates, SERVICE_CERTIFICATE_ID, secureOptions } from "#snapshot/certificates.ts";
import { listenBatchedUdp } from "./batched-udp.ts";
import type { NameserverConfig } from "#nameserver/config.ts";
import { listenDoh } from "./doh.ts";
import type { FastPath } from "#nameserver/responder/fast-path.ts";
import type { SystemSockets } from "./system-sockets.ts";
import { type CreateServer, listenTcp, type TcpResponders } from "./tcp.ts";
import { type Listener, listenUdp } from "./udp.ts";

export interface NameserverPorts {
  readonly udp: number;
  readonly tcp: number;
  /** DNS over TLS (RFC 7858). */
  readonly dot?: number;
  /** DNS over HTTPS on loopback, for the edge. */
  readonly doh?: number;
}

/** All sockets of a nameserver. */
export interface Listeners {
  /** Rejects with the system's error if an address cannot be bound; then none stays bound. */
  open(): Promise<NameserverPorts>;
  /** Descriptors of those that clients see. */
  sockets(): ListeningSockets;
  close(timeoutMs: number, idleMs?: number): Promise<void>;
}

export interface ListenersDeps {
  readonly config: NameserverConfig;
  readonly metrics: MetricRegistry;
  readonly responders: TcpResponders;
  readonly quickAnswer: FastPath;
  readonly clock: Clock;
  readonly certificates: Certificates;
  readonly sockets: SystemSockets | undefined;
}

/** DNS over HTTPS is only for this process's own edge. */
const SHARED = ["udp", "tcp", "dot"] as const;

/** Attempts to find a port that is free for both UDP and TCP. */
const PORT_TRIES = 20;

export function createListeners(deps: ListenersDeps): Listeners {
  const { config, metrics, responders } = deps;
  let open: readonly Listener[] = [];

  const bindBoth = async (): Promise<readonly [Listener, Listener]> => {
    const udp = await bindUdp(deps);
    try {
      return [udp, await listenTcp({ ...config, port: udp.port, fd: config.sockets?.tcp }, config.limits, responders, metrics)];
    } catch (error) {
      await udp.close(0);
      throw error;
    }
  };
  const bindOneNumber = async (): Promise<readonly [Listener, Listener]> => {
    for (let tries = 1; ; tries++) {
      try {
        return await bindBoth();
      } catch (error) {
        const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
        if (!taken || config.port !== 0 || tries >= PORT_TRIES) throw error;
      }
    }
  };
  const close = async (timeoutMs: number, idleMs = 0): Promise<void> => {
    await Promise.all(open.map((listener) => listener.close(timeoutMs, idleMs)));
    open = [];
  };
  /** If this listener fails, closes those that are open already. */
  const add = async (listening: Promise<Listener>): Promise<number> => {
    try {
      const listener = await listening;
      // few: as many as addresses to listen at
      open = [...open, listener];
      return listener.port;
    } catch (error) {
      await close(0);
      throw error;
    }
  };

  return {
    open: async () => {
      const [udp, tcp] = await bindOneNumber();
      open = [udp, tcp];
      return {
        udp: udp.port,
        tcp: tcp.port,
        ...(config.dot ? { dot: await add(listenDot(deps, config.dot.port)) } : {}),
        ...(config.doh ? { doh: await add(listenDoh({ ...config.doh, reusePort: config.reusePort }, responders.respond)) } : {}),
      };
    },
    // In the order in which they were opened.
    sockets: () => Object.fromEntries(SHARED.flatMap((name, i) => (open[i]?.fd === undefined ? [] : [[name, open[i].fd]]))),
    close,
  };
}

/** Clients that send no server name get the installation's own certificate. */
function listenDot({ config, metrics, responders, certificates }: ListenersDeps, port: number): Promise<Listener> {
  const handshakesFailed = metrics.counter("selvedge_dns_tls_handshakes_failed_total", "Failed TLS handshakes with the nameserver");
  const secure: CreateServer = (options, onConnection) => {
    const own = certificates.optionsOf(SERVICE_CERTIFICATE_ID) ?? {};
    const server = createTlsServer({ ...options, ...secureOptions(certificates), ...own, ALPNProtocols: ["dot"] }, onConnection);
    certificates.onChange((ids) => {
      // Creating a context takes as long as a hundred answers; contexts of zones are created on demand by name.
      if (ids === null || ids.has(SERVICE_CERTIFICATE_ID)) server.setSecureContext(certificates.optionsOf(SERVICE_CERTIFICATE_ID) ?? {});
    });
    return server.on("tlsClientError", () => (handshakesFailed.value += 1));
  };
  return listenTcp({ ...config, port, fd: config.sockets?.dot }, config.limits, responders, metrics, {
    transport: "dot",
    createServer: secure,
  });
}

function bindUdp({ config: given, sockets, quickAnswer, responders, clock, metrics }: ListenersDeps): Promise<Listener> {
  const config = { ...given, fd: given.sockets?.udp };
  // Node.js resolves a host name; batched UDP needs an address.
  const address = parseIp(config.host);
  return sockets && address
    ? listenBatchedUdp({ sockets, address, config, quickAnswer, respond: responders.respond, clock, metrics })
    : listenUdp(config, { quickAnswer, respond: responders.respond, clock }, metrics);
}
