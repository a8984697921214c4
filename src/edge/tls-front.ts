import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Metric } from "#kernel/metrics.ts";
import type { TicketKeys } from "#kernel/worker-protocol.ts";
import { parseHostname } from "#kernel/hostname.ts";
import type { Certificates } from "#snapshot/certificates.ts";
import { fatalAlert } from "#wire/tls/alert.ts";
import { readClientHello } from "#wire/tls/client-hello.ts";
import type { EdgeLimits } from "./config.ts";
import { READ_BUFFER, readShared } from "#wire/connections/shared-reads.ts";
import type { Checked, Timers } from "#kernel/timers.ts";
import { createTlsServers, type TlsPolicy } from "./tls-servers.ts";

/**
 * Reads a TLS client's first message before anything is done for it. A client that names no server, or one without a
 * certificate, gets an alert and costs no more than that; every other one gets the policy of the zone that it names,
 * before a version is agreed upon, and a server that can open its session ticket.
 */
export interface TlsFront {
  /** Takes over a connection of which nothing was read. `clientIp` comes back with it once it is secure. */
  accept(socket: Socket, clientIp: string): void;
  useTicketKeys(keys: TicketKeys): void;
  /** Ends the handshakes that are under way. */
  close(): void;
}

export interface TlsFrontDeps {
  readonly certificates: Certificates;
  /** What the zone of the name wants; the defaults where no zone has it. */
  policyFor(serverName: string): TlsPolicy;
  readonly limits: Pick<EdgeLimits, "headTimeoutMs" | "lingerMs" | "contextsMax">;
  readonly timers: Timers;
  readonly handshakesFailed: Metric;
  readonly namesRefused: Metric;
  onSecure(socket: TLSSocket, clientIp: string): void;
}

export function createTlsFront(deps: TlsFrontDeps): TlsFront {
  const { certificates, timers, limits } = deps;
  /** From its arrival until it is secure, by its two ends: what is known of a connection. */
  const arriving = new Map<string, PendingHello>();
  const servers = createTlsServers({
    certificates,
    certificatesMax: limits.contextsMax,
    handshakeTimeoutMs: limits.headTimeoutMs,
    onSecure: (socket) => {
      const ends = endsOf(socket);
      const arrived = arriving.get(ends);
      arriving.delete(ends);
      // A second hello of the same handshake must not name somebody else.
      if (arrived === undefined || socket.servername !== arrived.sentName) socket.destroy();
      else {
        socket.allowHalfOpen = true;
        deps.onSecure(socket, arrived.clientIp);
      }
    },
    onFailed: () => deps.handshakesFailed.value++,
  });

  const refuse = (hello: PendingHello, alert: Parameters<typeof fatalAlert>[0]): void => {
    deps.handshakesFailed.value++;
    if (alert === "unrecognized_name") deps.namesRefused.value++;
    hello.end(fatalAlert(alert), limits.lingerMs);
  };

  const decide = (hello: PendingHello, bytes: Buffer): void => {
    const read = readClientHello(bytes);
    if (read === "incomplete") return;
    if (read === "malformed") return refuse(hello, "decode_error");
    if (read.serverName === null) return refuse(hello, "missing_extension");
    const serverName = parseHostname(read.serverName, { underscores: true });
    const certificateId = serverName === undefined ? null : certificates.idFor(serverName);
    if (serverName === undefined || certificateId === null) return refuse(hello, "unrecognized_name");
    const server = servers.serverFor(certificateId, deps.policyFor(serverName), servers.ticketKeyNamed(read.ticketKeyNames));
    if (server === null) return refuse(hello, "handshake_failure");
    hello.sentName = read.serverName;
    hello.handOver();
    hello.socket.unshift(bytes);
    // Who ends its side amid a handshake is gone: Node would wait for the rest of it.
    hello.socket.allowHalfOpen = false;
    server.emit("connection", hello.socket);
  };

  return {
    accept: (socket, clientIp) => {
      const ends = endsOf(socket);
      const hello = new PendingHello(socket, clientIp, timers, limits.headTimeoutMs, decide);
      arriving.set(ends, hello);
      socket.on("close", () => {
        timers.remove(hello);
        arriving.delete(ends);
      });
    },
    useTicketKeys: servers.useTicketKeys,
    close: () => {
      for (const { socket } of [...arriving.values()]) socket.destroy();
    },
  };
}

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string => `${remoteAddress} ${remotePort} ${localAddress}`;

/** A connection that has not said yet what it wants. */
class PendingHello implements Checked {
  readonly socket: Socket;
  readonly clientIp: string;
  /** The name that it asked for, as it was sent. */
  sentName = "";
  private readonly timers: Timers;
  private readonly onBytes: (hello: PendingHello, bytes: Buffer) => void;
  private bytes: Buffer | null = null;
  /** What comes is of no interest any more. */
  private isOver = false;
  private untilMs: number;

  constructor(socket: Socket, clientIp: string, timers: Timers, timeoutMs: number, onBytes: (hello: PendingHello, bytes: Buffer) => void) {
    this.socket = socket;
    this.clientIp = clientIp;
    this.timers = timers;
    this.onBytes = onBytes;
    this.untilMs = timers.nowMs + timeoutMs;
    readShared(socket, (length) => {
      const bytes = Buffer.allocUnsafe(length);
      READ_BUFFER.copy(bytes, 0, 0, length);
      this.onData(bytes);
      return true;
    });
    // What was read before, and everything where reads are not shared.
    socket.on("data", this.onData);
    socket.on("end", this.onEnd);
    socket.on("error", this.onEnd);
    timers.add(this);
  }

  check(nowMs: number): void {
    if (nowMs > this.untilMs) this.socket.destroy();
  }

  /** The socket belongs to somebody else from now on. */
  handOver(): void {
    this.isOver = true;
    this.socket.off("data", this.onData);
    this.socket.off("end", this.onEnd);
    this.socket.pause();
    this.timers.remove(this);
  }

  /** Sends the last bytes, and waits a moment for the other side to have them. */
  end(last: Buffer, lingerMs: number): void {
    this.isOver = true;
    this.untilMs = this.timers.nowMs + lingerMs;
    this.socket.end(last);
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.isOver) return;
    this.bytes = this.bytes === null ? chunk : Buffer.concat([this.bytes, chunk]);
    this.onBytes(this, this.bytes);
  };

  private readonly onEnd = (): void => void this.socket.destroy();
}
