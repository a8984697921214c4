import { isOccupied, type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import type { OnMissing } from "#kernel/process/native-transport.ts";
import type { InheritedSockets } from "#app/handover/inherited-sockets.ts";
import type { Config } from "#app/config/config.ts";
import { addressesOf, LISTEN_PLACES } from "#app/config/listen-places.ts";
import type { Log } from "#app/log/log.ts";
import type { Bound } from "#app/threads/thread-ports.ts";
import { descriptorsOf, like, loadSocketSet, type OpenSocket, portsOfSockets } from "./socket-set.ts";

/**
 * The sockets of nameserver and edge before these have started: visitors wait in them and are served by the threads,
 * which take them over. Nothing is accepted or read here.
 */
export interface ZoneSockets {
  /** By transport. */
  readonly ports: { readonly dns: Bound; readonly edge: Bound };
  /** Calls back once, when the first visitor waits. */
  onVisitor(listener: () => void): void;
  /** All of them, by thread and transport; empty once they are closed or have been taken over. */
  open(): readonly OpenSocket[];
  /** For starting threads; undefined once they are closed or have been taken over. */
  ofNameserver(): ListeningSockets | undefined;
  ofEdge(): ListeningSockets | undefined;
  /** The threads have taken them over. */
  handedOver(): void;
  /** Closes sockets that were not taken over, once no thread that received some is alive. */
  close(): void;
}

/**
 * Null if sockets cannot be passed on: the threads then open them at the start. Rejects with the system's error if a port
 * is occupied.
 */
export async function openZoneSockets(
  config: Config,
  onMissing: OnMissing,
  log: Log,
  inherited?: Pick<InheritedSockets, "take">,
): Promise<ZoneSockets | null> {
  const hosts = addressesOf([...config.dns.host, ...config.edge.host]);
  const sockets = await loadSocketSet(hosts, onMissing, (name) => inherited?.take(name));
  if (sockets === null) return null;
  const dns: Record<string, OpenSocket> = {};
  const edge: Record<string, OpenSocket> = {};
  const anyDot = (place: ListenPlace, name: string, reusePort: boolean): OpenSocket => {
    try {
      return sockets.listen(name, place, reusePort);
    } catch (error) {
      if (place.orAny !== true || !isOccupied(error)) throw error;
      log.warn({ address: place.host, wanted_port: place.port, reason: (error as Error).message }, "DNS over TLS uses another port");
      return sockets.listen(name, { ...place, port: 0 }, reusePort);
    }
  };
  try {
    const shares = { dns: config.dns.workers > 1, edge: config.edge.workers > 1 };
    for (const [i, place] of LISTEN_PLACES.dns(config).entries()) {
      const { udp, tcp } = sockets.openBoth(i, like(place, dns["udp"]), shares.dns);
      Object.assign(dns, { [socketName("udp", i)]: udp, [socketName("tcp", i)]: tcp });
    }
    for (const [i, place] of LISTEN_PLACES.dot(config).entries()) {
      const name = socketName("dot", i);
      dns[name] = anyDot(like(place, dns["dot"]), `nameserver-1/${name}`, shares.dns);
    }
    for (const transport of ["http", "https"] as const)
      for (const [i, place] of LISTEN_PLACES[transport](config).entries()) {
        const name = socketName(transport, i);
        edge[name] = sockets.listen(`edge-1/${name}`, like(place, edge[transport]), shares.edge);
      }
    return {
      ports: { dns: portsOfSockets(dns), edge: portsOfSockets(edge) },
      onVisitor: sockets.onVisitor,
      open: sockets.list,
      ofNameserver: () => (sockets.isOpen() ? descriptorsOf(dns) : undefined),
      ofEdge: () => (sockets.isOpen() ? descriptorsOf(edge) : undefined),
      handedOver: sockets.forget,
      close: sockets.close,
    };
  } catch (error) {
    sockets.close();
    throw error;
  }
}
