import { socketName } from "#kernel/net/listen-place.ts";
import type { ListeningSockets } from "#kernel/process/worker-protocol.ts";
import { addressesOf, LISTEN_PLACES } from "#app/config/listen-places.ts";
import type { Bound } from "#app/threads/thread-ports.ts";
import type { PlanesDeps } from "./planes-deps.ts";
import { descriptorsOf, like, loadSocketSet, type OpenSocket, portsOfSockets, type SocketSet } from "./socket-set.ts";

/** The AI gateway's sockets before it has started: visitors wait in them and are served by its thread, which takes them over. */
export interface GatewaySockets extends Pick<SocketSet, "onVisitor" | "close"> {
  readonly ports: Bound;
  open(): readonly OpenSocket[];
  /** For the starting thread; empty once they are closed or have been taken over. */
  descriptors(): ListeningSockets;
  /** The thread has taken them over. */
  handedOver(): void;
}

/** Null if sockets cannot be passed on: the thread then opens them at the start. Rejects with the system's error if a port is occupied. */
export async function openGatewaySockets({
  config,
  onNotNative,
  inherited,
}: Pick<PlanesDeps, "config" | "onNotNative" | "inherited">): Promise<GatewaySockets | null> {
  const sockets = await loadSocketSet(addressesOf(config.gateway.host), onNotNative, (name) => inherited?.take(name));
  if (sockets === null) return null;
  const opened: Record<string, OpenSocket> = {};
  try {
    for (const [i, place] of LISTEN_PLACES.gateway(config).entries()) {
      const name = socketName("http", i);
      opened[name] = sockets.listen(`gateway/${name}`, like(place, opened["http"]), false);
    }
  } catch (error) {
    sockets.close();
    throw error;
  }
  return {
    ports: portsOfSockets(opened),
    open: sockets.list,
    descriptors: () => (sockets.isOpen() ? descriptorsOf(opened) : {}),
    onVisitor: sockets.onVisitor,
    handedOver: sockets.forget,
    close: sockets.close,
  };
}
