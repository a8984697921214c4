import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIP } from "node:net";
import type { ListenPlace } from "#kernel/net/listen-place.ts";

/** Binds an address for a moment: the system's error, or null if a listener may have it. `withUdp`: for UDP as well. */
export async function tryListen(place: ListenPlace, withUdp: boolean): Promise<Error | null> {
  return (await bindTcp(place)) ?? (withUdp ? await bindUdp(place) : null);
}

async function bindTcp({ host, port, onlyIpv6: ipv6Only = false }: ListenPlace): Promise<Error | null> {
  const server = createServer();
  try {
    await once(server.listen({ host, port, ipv6Only }), "listening");
    return null;
  } catch (error) {
    return error as Error;
  } finally {
    server.close();
  }
}

async function bindUdp({ host, port, onlyIpv6: ipv6Only = false }: ListenPlace): Promise<Error | null> {
  const socket = createSocket({ type: isIP(host) === 6 ? "udp6" : "udp4", ipv6Only });
  try {
    const listening = once(socket, "listening");
    socket.bind({ address: host, port });
    await listening;
    return null;
  } catch (error) {
    return error as Error;
  } finally {
    socket.close();
  }
}
