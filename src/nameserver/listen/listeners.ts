import type { Clock } from "#kernel/clock.ts";
import { createServer as createTlsServer } from "node:tls";
import { isOccupied, type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import { parseIp } from "#kernel/net/ip.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { FeedLog } from "#snapshot/feed.ts";
import { type Certificates, SERVICE_CERTIFICATE_ID, secureOptions } from "#snapshot/certificates.ts";
import { listenBatchedUdp } from "./batched-udp.ts";
import type { NameserverConfig } from "#nameserver/config.ts";
import { listenDoh } from "./doh.ts";
import type { FastPath } from "#nameserver/responder/fast-path.ts";
import type { SystemSockets } from "./system-sockets.ts";
import { type CreateServer, listenTcp, type TcpResponders } from "./tcp.ts";
import { type Listener, listenUdp, type UdpConfig } from "./udp.ts";

/** By transport; those of further addresses have names as `udp+2`. */
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
  readonly log: FeedLog;
}

/** Attempts to find a port that is free for both UDP and TCP. */
const PORT_TRIES = 20;

export function createListeners(deps: ListenersDeps): Listeners {
  const { config, metrics, responders } = deps;
  const open = new Map<string, Listener>();
  let doh: Listener | null = null;

  const places = (): readonly DnsPlaces[] => {
    const { host, port, onlyIpv6, dot, further = [] } = config;
    const first = { host, ...(onlyIpv6 === undefined ? {} : { onlyIpv6 }) };
    return [{ dns: { ...first, port }, dot: dot === undefined ? null : { ...first, ...dot } }, ...further];
  };
  const socketAt = (transport: string, index: number, place: ListenPlace): UdpConfig => {
    const { host, port, onlyIpv6 } = place;
    return { host, port, onlyIpv6, reusePort: config.reusePort, fd: config.sockets?.[socketName(transport, index)] };
  };
  const bindBoth = async (place: ListenPlace, index: number): Promise<readonly [Listener, Listener]> => {
    const udp = await bindUdp(deps, socketAt("udp", index, place));
    try {
      return [udp, await listenTcp(socketAt("tcp", index, { ...place, port: udp.port }), config.limits, responders, metrics)];
    } catch (error) {
      await udp.close(0);
      throw error;
    }
  };
  const bindOneNumber = async (place: ListenPlace, index: number): Promise<readonly [Listener, Listener]> => {
    for (let tries = 1; ; tries++) {
      try {
        return await bindBoth(place, index);
      } catch (error) {
        const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
        if (!taken || place.port !== 0 || tries >= PORT_TRIES) throw error;
      }
    }
  };
  const secureListener = createSecureListener(deps);
  const listenDot = async (place: ListenPlace, index: number): Promise<Listener> => {
    try {
      return await secureListener(socketAt("dot", index, place));
    } catch (error) {
      if (place.orAny !== true || !isOccupied(error)) throw error;
      const reason = (error as Error).message;
      deps.log("warn", "DNS over TLS uses another port", { address: place.host, wanted_port: place.port, reason });
      return secureListener(socketAt("dot", index, { ...place, port: 0 }));
    }
  };
  const close = async (timeoutMs: number, idleMs = 0): Promise<void> => {
    const all = [...open.values(), ...(doh === null ? [] : [doh])];
    open.clear();
    doh = null;
    await Promise.all(all.map((listener) => listener.close(timeoutMs, idleMs)));
  };

  return {
    open: async () => {
      try {
        for (const [i, { dns, dot }] of places().entries()) {
          const [udp, tcp] = await bindOneNumber({ ...dns, port: dns.port || (open.get("udp")?.port ?? 0) }, i);
          open.set(socketName("udp", i), udp).set(socketName("tcp", i), tcp);
          if (dot !== null) open.set(socketName("dot", i), await listenDot({ ...dot, port: dot.port || (open.get("dot")?.port ?? 0) }, i));
        }
        if (config.doh) doh = await listenDoh({ ...config.doh, reusePort: config.reusePort }, config.limits, responders.respond);
        const ports = Object.fromEntries(Array.from(open, ([name, { port }]) => [name, port]));
        return { ...ports, ...(doh === null ? {} : { doh: doh.port }) } as unknown as NameserverPorts;
      } catch (error) {
        await close(0);
        throw error;
      }
    },
    sockets: () => Object.fromEntries(Array.from(open).flatMap(([name, { fd }]) => (fd === undefined ? [] : [[name, fd]]))),
    close,
  };
}

/** An address for DNS, and for DNS over TLS if it is offered. */
interface DnsPlaces {
  readonly dns: ListenPlace;
  readonly dot: ListenPlace | null;
}

/** Clients that send no server name get the installation's own certificate. */
function createSecureListener({ config, metrics, responders, certificates }: ListenersDeps): (at: UdpConfig) => Promise<Listener> {
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
  return (at) => listenTcp(at, config.limits, responders, metrics, { transport: "dot", createServer: secure });
}

function bindUdp({ sockets, quickAnswer, responders, clock, metrics }: ListenersDeps, config: UdpConfig): Promise<Listener> {
  // Node.js resolves a host name; batched UDP needs an address.
  const address = parseIp(config.host);
  return sockets && address
    ? listenBatchedUdp({ sockets, address, config, quickAnswer, respond: responders.respond, clock, metrics })
    : listenUdp(config, { quickAnswer, respond: responders.respond, clock }, metrics);
}
