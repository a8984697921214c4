import { type Socket, createSocket } from "node:dgram";
import { once } from "node:events";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import { isIpv6 } from "#kernel/net/ip.ts";
import { createDelivery, type Send, type UdpResponders } from "./delivery.ts";
import type { Response } from "#nameserver/responder/respond.ts";

export interface Listener {
  readonly port: number;
  /** Undefined if it is not known. */
  readonly fd?: number | undefined;
  /** Resolves when everything is closed, after `timeoutMs` at the latest. `idleMs`: see DrainTimes. */
  close(timeoutMs: number, idleMs?: number): Promise<void>;
}

export interface UdpConfig {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  /** A descriptor that is already bound to the address. */
  readonly fd?: number | undefined;
  /** `::` leaves IPv4 to other sockets. */
  readonly onlyIpv6?: boolean | undefined;
}

/** Size of the buffer for queries that wait while the thread is busy; the kernel grants as much as its limits allow. */
export const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Rejects with the system's error if the address cannot be bound. */
export async function listenUdp(config: UdpConfig, responders: UdpResponders, metrics: MetricRegistry): Promise<Listener> {
  const sendErrors = udpSendErrors(metrics);
  const family = isIpv6(config.host) ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? "udp6" : "udp4",
    reusePort: config.reusePort,
    ipv6Only: config.onlyIpv6 === true,
    // Peers are numeric addresses, so nothing is looked up.
    lookup: (address, _options, done) => done(null, address, family),
  });
  const listening = once(socket, "listening");
  socket.bind(config.fd === undefined ? { port: config.port, address: config.host } : { fd: config.fd });
  try {
    await listening;
  } catch (error) {
    socket.close();
    throw error;
  }
  enlargeBuffer(socket);

  const onSent = (error: Error | null): void => {
    if (error) sendErrors.value += 1;
  };
  socket.on("error", onSent);
  socket.on("message", createDelivery(responders, createSend(socket, onSent)));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

/** Sends a response now or when it is known, unless the socket is closed by then. */
function createSend(socket: Socket, onSent: (error: Error | null) => void): Send {
  let open = true;
  socket.once("close", () => (open = false));
  const sendNow = (response: Response, port: number, address: string): void => {
    if (response && open) socket.send(response, port, address, onSent);
  };
  return (response, port, address) => {
    if (response instanceof Promise) void response.then((known) => sendNow(known, port, address));
    else sendNow(response, port, address);
  };
}

export const udpSendErrors = (metrics: MetricRegistry): Metric =>
  metrics.counter("selvedge_dns_udp_send_errors_total", "DNS responses that the operating system failed to send");

function enlargeBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
  } catch {
    // Then the system's default size remains.
  }
}
