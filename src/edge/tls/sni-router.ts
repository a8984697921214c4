import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Metric } from "#kernel/process/metrics.ts";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import type { Timers } from "#kernel/timers.ts";
import type { Certificates } from "#snapshot/certificates.ts";
import { LoopSocket } from "#wire/connections/epoll/loop-socket.ts";
import { NodeTransport } from "#wire/connections/transport/node-transport.ts";
import { type Agreed, SecureChannel } from "#wire/connections/epoll/secure-channel.ts";
import type { SecureCalls } from "#wire/connections/epoll/socket-calls.ts";
import type { End, Transport } from "#wire/connections/transport/transport.ts";
import { fatalAlert } from "#wire/tls/alert.ts";
import { readClientHello } from "#wire/tls/client-hello.ts";
import type { EdgeLimits } from "#edge/config.ts";
import { PendingEpollSocket } from "./pending-epoll-socket.ts";
import { PendingNodeSocket } from "./pending-node-socket.ts";
import { createTlsContexts } from "./contexts.ts";
import type { TlsPolicy } from "./context-table.ts";
import { createTlsServers } from "./servers.ts";
import { RecordOverhead } from "./record-overhead.ts";

/**
 * Reads the first message of a TLS client before spending anything on it. A client that names no server, or one without a
 * certificate, only gets an alert. Others get the policy of the named zone, before a version is agreed on, and the key of
 * their session ticket.
 */
export interface TlsFront {
  /** Takes over a connection of which nothing was read. `client` is passed on once the connection is secure. */
  accept(transport: Transport, client: End): void;
  useTicketKeys(keys: TicketKeys): void;
  /** Ends the handshakes under way. */
  close(): void;
}

export interface TlsFrontDeps {
  readonly certificates: Certificates;
  /** Null: Node.js does all TLS. */
  readonly secure: SecureCalls | null;
  /** The policy of the name's zone; the defaults without a zone. */
  policyFor(serverName: string): TlsPolicy;
  readonly limits: Pick<EdgeLimits, "headTimeoutMs" | "lingerMs" | "contextsMax">;
  readonly timers: Timers;
  readonly handshakesFailed: Metric;
  readonly namesRefused: Metric;
  onSecure(transport: Transport, client: End, agreed: Agreed): void;
}

/** The contents of a first message, or the reason to refuse it. */
type Wish = {
  readonly sentName: string;
  readonly certificateId: string;
  readonly policy: TlsPolicy;
  readonly ticketKeyNames: readonly Buffer[];
};
type Alert = Parameters<typeof fatalAlert>[0];

export function createTlsFront(deps: TlsFrontDeps): TlsFront {
  const { secure } = deps;
  const refused = (alert: Alert): Buffer => {
    deps.handshakesFailed.value++;
    if (alert === "unrecognized_name") deps.namesRefused.value++;
    return fatalAlert(alert);
  };
  const node = createNodeFront(deps, refused);
  const loop = secure === null ? null : createLoopFront(deps, secure, refused);
  return {
    accept: (transport, client) => {
      if (loop !== null && transport instanceof LoopSocket) loop.accept(transport, client);
      else {
        const socket = transport.intoSocket();
        node.accept(socket, client);
        socket.resume();
      }
    },
    useTicketKeys: (keys) => {
      node.useTicketKeys(keys);
      loop?.useTicketKeys(keys);
    },
    close: () => {
      node.close();
      loop?.close();
    },
  };
}

function readWish({ certificates, policyFor }: TlsFrontDeps, bytes: Buffer): Wish | Alert | "incomplete" {
  const read = readClientHello(bytes);
  if (read === "incomplete") return read;
  if (read === "malformed") return "decode_error";
  const { serverName: sentName, ticketKeyNames } = read;
  if (sentName === null) return "missing_extension";
  const serverName = parseHostname(sentName, { underscores: true });
  const certificateId = serverName === undefined ? null : certificates.idFor(serverName);
  if (serverName === undefined || certificateId === null) return "unrecognized_name";
  return { sentName, certificateId, policy: policyFor(serverName), ticketKeyNames };
}

interface Front<T> extends Omit<TlsFront, "accept"> {
  accept(connection: T, client: End): void;
}

/** OpenSSL on the sockets of the epoll loop (ADR 0032). */
function createLoopFront(deps: TlsFrontDeps, calls: SecureCalls, refused: (alert: Alert) => Buffer): Front<LoopSocket> {
  const { timers, limits } = deps;
  const { openSsl } = calls;
  const arriving = new Set<PendingEpollSocket>();
  const contexts = createTlsContexts({ openSsl, certificates: deps.certificates, certificatesMax: limits.contextsMax });
  const decide = (arrival: PendingEpollSocket, bytes: Buffer): void => {
    const wish = readWish(deps, bytes);
    if (wish === "incomplete") return;
    if (typeof wish === "string") return arrival.end(refused(wish), limits.lingerMs);
    const context = contexts.get(wish.certificateId, wish.policy, contexts.ticketKeyNamed(wish.ticketKeyNames));
    if (context === null) return arrival.end(refused("handshake_failure"), limits.lingerMs);
    const ssl = openSsl.open(context, arrival.socket.fd);
    if (ssl === 0) return arrival.socket.destroy();
    arrival.secure(new SecureChannel(calls, ssl, bytes), wish.sentName, limits.headTimeoutMs);
  };
  return {
    accept: (socket, client) => {
      const arrival = new PendingEpollSocket(socket, timers, limits.headTimeoutMs, {
        onHello: decide,
        onSecure: (agreed) => {
          arriving.delete(arrival);
          deps.onSecure(socket, client, agreed);
        },
        onGone: (isAmidHandshake) => {
          arriving.delete(arrival);
          if (isAmidHandshake) deps.handshakesFailed.value++;
        },
      });
      arriving.add(arrival);
    },
    useTicketKeys: contexts.useTicketKeys,
    close: () => {
      for (const { socket } of [...arriving]) socket.destroy();
      contexts.clear();
    },
  };
}

/** Servers of Node.js, for connections outside the epoll loop. */
function createNodeFront(deps: TlsFrontDeps, refused: (alert: Alert) => Buffer): Front<Socket> {
  const { certificates, timers, limits } = deps;
  /** Connections from their arrival until they are secure, by their two ends. */
  const arriving = new Map<string, PendingNodeSocket>();
  const servers = createTlsServers({
    certificates,
    certificatesMax: limits.contextsMax,
    handshakeTimeoutMs: limits.headTimeoutMs,
    onSecure: (socket) => {
      const ends = endsOf(socket);
      const arrived = arriving.get(ends);
      arriving.delete(ends);
      // A second hello of the same handshake must not name another server.
      if (arrived === undefined || socket.servername !== arrived.sentName) socket.destroy();
      else {
        socket.allowHalfOpen = true;
        new RecordOverhead(arrived.socket, socket, timers);
        deps.onSecure(new NodeTransport(socket), arrived.client, agreedOf(socket));
      }
    },
    onFailed: () => deps.handshakesFailed.value++,
  });

  const decide = (arrival: PendingNodeSocket, bytes: Buffer): void => {
    const wish = readWish(deps, bytes);
    if (wish === "incomplete") return;
    if (typeof wish === "string") return arrival.end(refused(wish), limits.lingerMs);
    const server = servers.get(wish.certificateId, wish.policy, servers.ticketKeyNamed(wish.ticketKeyNames));
    if (server === null) return arrival.end(refused("handshake_failure"), limits.lingerMs);
    arrival.sentName = wish.sentName;
    arrival.handOver();
    arrival.socket.unshift(bytes);
    // A client that ends its side during a handshake is gone, but Node.js would wait for the rest.
    arrival.socket.allowHalfOpen = false;
    server.emit("connection", arrival.socket);
  };

  return {
    accept: (socket, client) => {
      const ends = endsOf(socket);
      const arrival = new PendingNodeSocket(socket, client, timers, limits.headTimeoutMs, decide);
      arriving.set(ends, arrival);
      socket.on("close", () => {
        timers.remove(arrival);
        arriving.delete(ends);
      });
    },
    useTicketKeys: servers.useTicketKeys,
    close: () => {
      for (const { socket } of [...arriving.values()]) socket.destroy();
    },
  };
}

const agreedOf = (socket: TLSSocket): Agreed => ({
  version: socket.getProtocol() ?? "",
  cipher: socket.getCipher().name,
  protocol: socket.alpnProtocol === false || socket.alpnProtocol === null ? "" : socket.alpnProtocol,
});

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string => `${remoteAddress} ${remotePort} ${localAddress}`;
