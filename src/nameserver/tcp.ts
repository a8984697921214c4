import { once } from "node:events";
import { type Socket, createServer } from "node:net";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import type { NameserverLimits } from "./config.ts";
import type { Respond } from "./respond.ts";
import type { Listener, UdpConfig } from "./udp.ts";

const LENGTH_BYTES = 2;

/** DNS over TCP (RFC 7766): many messages a connection. Rejects with the system's error where the address cannot be bound. */
export async function listenTcp(config: UdpConfig, limits: NameserverLimits, respond: Respond, metrics: MetricRegistry): Promise<Listener> {
  const open = metrics.gauge("selvedge_dns_tcp_connections", "TCP connections to the nameserver that are open");
  const refused = metrics.counter("selvedge_dns_tcp_refused_total", "TCP connections closed at once because there were too many");
  const sockets = new Set<Socket>();
  const perAddress = new Map<string, number>();

  const server = createServer({ noDelay: true }, (socket) => {
    const address = socket.remoteAddress ?? "";
    const count = perAddress.get(address) ?? 0;
    socket.on("error", () => socket.destroy());
    if (sockets.size >= limits.tcpConnectionsMax || count >= limits.tcpConnectionsPerAddressMax) {
      refused.value += 1;
      socket.destroy();
      return;
    }
    sockets.add(socket);
    perAddress.set(address, count + 1);
    open.value = sockets.size;
    socket.on("close", () => {
      sockets.delete(socket);
      open.value = sockets.size;
      const rest = (perAddress.get(address) ?? 1) - 1;
      if (rest === 0) perAddress.delete(address);
      else perAddress.set(address, rest);
    });
    serve(socket, limits, respond);
  });
  server.listen({ host: config.host, port: config.port, reusePort: config.reusePort });
  await once(server, "listening");

  return {
    port: config.port,
    close: async (timeoutMs) => {
      const closed = once(server, "close");
      server.close();
      // Every response was written when its question was read: ending flushes what clients have not taken yet.
      for (const socket of sockets) socket.end();
      const limit = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, timeoutMs);
      await closed;
      clearTimeout(limit);
    },
  };
}

/** Reads length-prefixed messages and answers each in turn, for as long as the client keeps up. */
function serve(socket: Socket, limits: NameserverLimits, respond: Respond): void {
  let chunks: Buffer[] = [];
  let buffered = 0;
  // What must have arrived before reading on makes sense: a length, then a whole message.
  let needed = LENGTH_BYTES;
  const timer = setTimeout(() => socket.destroy(), limits.tcpIdleTimeoutMs);

  const pump = (): void => {
    while (buffered >= needed && !socket.destroyed && socket.writableLength <= limits.tcpBacklogBytesMax) {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      const length = bytes.readUInt16BE(0);
      if (length < HEADER_BYTES) {
        socket.destroy();
        return;
      }
      needed = LENGTH_BYTES + length;
      chunks = [bytes];
      if (buffered < needed) return;
      chunks = [bytes.subarray(needed)];
      buffered -= needed;
      needed = LENGTH_BYTES;
      timer.refresh();
      reply(respond(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length), "tcp"));
    }
    if (socket.writableLength > limits.tcpBacklogBytesMax) socket.pause();
  };

  const reply = (response: Buffer | undefined): void => {
    if (!response) return;
    const framed = Buffer.allocUnsafe(LENGTH_BYTES + response.length);
    framed.writeUInt16BE(response.length, 0);
    response.copy(framed, LENGTH_BYTES);
    socket.write(framed);
  };

  socket.on("data", (chunk) => {
    chunks.push(chunk);
    buffered += chunk.length;
    pump();
  });
  socket.on("drain", () => {
    timer.refresh();
    socket.resume();
    pump();
  });
  socket.on("close", () => clearTimeout(timer));
}
