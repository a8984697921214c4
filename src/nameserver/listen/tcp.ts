import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { descriptorOf } from "#kernel/process/fd-registry.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { type Client, clientOf } from "#nameserver/message/client.ts";
import type { NameserverLimits } from "#nameserver/config.ts";
import { createConnectionTable } from "./connection-table.ts";
import type { MessageStream } from "#nameserver/transfers/message-stream.ts";
import type { Respond, Response } from "#nameserver/responder/respond.ts";
import { createStreamSender, type StreamSender } from "./stream-sender.ts";
import { createMessageTurns, type MessageTurns } from "#kernel/process/message-turns.ts";
import { createYieldQueue, type Yield } from "#nameserver/limits/yield-queue.ts";
import type { Listener, UdpConfig } from "./udp.ts";

const LENGTH_BYTES = 2;

export interface TcpResponders {
  readonly respond: Respond;
  /** A response of many messages; undefined if `respond` answers the message. */
  openStream(packet: Buffer, client: Client): MessageStream | undefined;
}

export type CreateServer = (
  options: { readonly noDelay: boolean; readonly allowHalfOpen: boolean },
  onConnection: (socket: Socket) => void,
) => Server;

/** The carrier of the messages: TCP itself, or TLS over it. */
export interface Carrier {
  readonly transport: "tcp" | "dot";
  readonly createServer: CreateServer;
}

const PLAIN: Carrier = { transport: "tcp", createServer };

/** DNS over TCP (RFC 7766): many messages per connection. Rejects with the system's error if the address cannot be bound. */
export async function listenTcp(
  config: UdpConfig,
  limits: NameserverLimits,
  { respond, openStream }: TcpResponders,
  metrics: MetricRegistry,
  { transport, createServer: create }: Carrier = PLAIN,
): Promise<Listener> {
  const labels = { transport };
  const open = metrics.gauge("selvedge_dns_tcp_connections", "Open TCP connections to the nameserver", labels);
  const refused = metrics.counter("selvedge_dns_tcp_refused_total", "TCP connections refused because too many were open", labels);
  const sockets = new Map<Socket, Connection>();
  const takeTurn = createYieldQueue();
  const turns = createMessageTurns(limits.tcpMessagesPerTick);
  const table = createConnectionTable(limits.tcpConnectionsMax, limits.tcpConnectionsPerAddressMax);

  // A client that ends during the handshake is gone; one that ends after it may still wait for answers.
  const server = create({ noDelay: true, allowHalfOpen: transport === "tcp" }, (socket) => {
    if (socket.destroyed) return;
    socket.allowHalfOpen = true;
    socket.on("error", () => socket.destroy());
    const client = clientOf(transport, socket.remoteAddress, socket.remotePort);
    const connection = serve({ socket, client, limits, respond, openStream, takeTurn, turns, onActive: () => table.touch(client) });
    sockets.set(socket, connection);
    table.serve(client, connection.isBusy);
    open.value += 1;
    socket.on("close", () => {
      sockets.delete(socket);
      open.value -= 1;
    });
  });
  // Runs before TLS sees the connection, so that one without a handshake counts too.
  server.prependListener("connection", (socket: Socket) => {
    if (table.admit(socket, clientOf(transport, socket.remoteAddress, socket.remotePort))) return;
    refused.value += 1;
    socket.destroy();
  });
  // Node.js reports a handshake that takes too long, but leaves the connection open.
  server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  const { host, port, reusePort, fd, onlyIpv6: ipv6Only = false } = config;
  server.listen(fd === undefined ? { host, port, reusePort, ipv6Only } : { fd });
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    fd: descriptorOf(server),
    close: async (timeoutMs, idleMs = 0) => {
      const closed = once(server, "close");
      server.close();
      await within(idleMs, closed);
      for (const connection of sockets.values()) connection.end();
      const limit = setTimeout(table.destroyAll, timeoutMs);
      await closed;
      clearTimeout(limit);
    },
  };
}

/** Resolves with the promise, or after the time. */
async function within(timeoutMs: number, promise: Promise<unknown>): Promise<void> {
  if (timeoutMs === 0) return;
  const limit = new AbortController();
  await Promise.race([promise, delay(timeoutMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
  limit.abort();
}

interface Connection {
  /** Whether an answer is being made; false if the client does not read the ones that it has. */
  isBusy(): boolean;
  /** Reads no more queries, and closes the connection once the client has its answers. */
  end(): void;
}

interface ServeDeps extends TcpResponders {
  readonly socket: Socket;
  readonly client: Client;
  readonly limits: NameserverLimits;
  readonly takeTurn: Yield;
  readonly turns: MessageTurns;
  /** The client has sent a query or read an answer. */
  onActive(): void;
}

/**
 * Reads length-prefixed messages and answers each, while the client keeps up. An answer that needs a lookup is sent when
 * it is known, after those of later queries (RFC 7766 §6.2.1.1).
 */
function serve({ socket, client, limits, respond, openStream, takeTurn, turns, onActive }: ServeDeps): Connection {
  let chunks: Buffer[] = [];
  let buffered = 0;
  // Bytes to wait for before parsing continues: a length, then a whole message.
  let needed = LENGTH_BYTES;
  let pending = 0;
  let closing = false;
  let halfClosed = false;
  /** Other connections and datagrams come first. */
  let isWaiting = false;
  const timer = setTimeout(() => socket.destroy(), limits.tcpIdleTimeoutMs);
  const active = (): void => {
    timer.refresh();
    onActive();
  };
  let sender: StreamSender | undefined;
  const isFull = (): boolean => socket.writableLength > limits.tcpBacklogBytesMax;
  // Clients of transfers need not separate the messages of two answers (RFC 5936 §4.1.1), so they are sent in sequence.
  const isBehind = (): boolean => isWaiting || isFull() || pending >= limits.tcpPendingMax || sender !== undefined;

  const pump = (): void => {
    while (buffered >= needed && !socket.destroyed && !closing && !isBehind()) {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      const length = bytes.readUInt16BE(0);
      if (length < HEADER_BYTES) {
        socket.destroy();
        return;
      }
      needed = LENGTH_BYTES + length;
      chunks = [bytes];
      if (buffered < needed) break;
      if (!turns.take()) {
        isWaiting = true;
        turns.wait(onTurn);
        break;
      }
      chunks = [bytes.subarray(needed)];
      buffered -= needed;
      needed = LENGTH_BYTES;
      active();
      const message = bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
      const stream = openStream(message, client);
      if (stream) sender = createStreamSender({ stream, write: send, takeTurn, isFull, ended });
      else reply(respond(message, client));
    }
    if (isBehind()) socket.pause();
    else if (halfClosed) endWhenDone();
  };

  const reply = (response: Response | Promise<Response>): void => {
    if (!(response instanceof Promise)) {
      write(socket, response);
      return;
    }
    pending += 1;
    void response.then((known) => {
      pending -= 1;
      write(socket, known);
      if (closing) endWhenDone();
      else goOn();
    });
  };
  const send = (message: Buffer): void => {
    active();
    write(socket, message);
  };
  const ended = (isWhole: boolean): void => {
    sender = undefined;
    // The client must not take an incomplete transfer for a complete one.
    if (!isWhole) socket.destroy();
    else if (closing) endWhenDone();
    else goOn();
  };
  const goOn = (): void => {
    sender?.resume();
    if (isBehind()) return;
    socket.resume();
    pump();
  };
  const onTurn = (): void => {
    isWaiting = false;
    if (!socket.destroyed) goOn();
  };
  const endWhenDone = (): void => {
    // Ending the socket flushes buffered data.
    if (pending === 0 && sender === undefined) socket.end();
  };

  socket.on("data", (chunk) => {
    chunks.push(chunk);
    buffered += chunk.length;
    pump();
  });
  socket.on("drain", () => {
    active();
    goOn();
  });
  socket.on("end", () => {
    halfClosed = true;
    pump();
  });
  socket.on("close", () => {
    clearTimeout(timer);
    sender?.close();
  });
  return {
    isBusy: () => (pending > 0 || sender !== undefined) && !isFull(),
    end: () => {
      closing = true;
      endWhenDone();
    },
  };
}

function write(socket: Socket, response: Response): void {
  if (!response || !socket.writable) return;
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + response.length);
  framed.writeUInt16BE(response.length, 0);
  response.copy(framed, LENGTH_BYTES);
  socket.write(framed);
}
