import { formatIp, type IpAddress } from "#kernel/net/ip.ts";
import { LoopSocket } from "./loop-socket.ts";
import { EAGAIN, EPOLLIN, listenError, type SocketCalls } from "./socket-calls.ts";
import { opened } from "#kernel/process/fd-registry.ts";
import type { SocketLoop, Watched } from "./socket-loop.ts";

/** Address and options of a listening socket. */
export interface LoopListenOptions {
  readonly address: IpAddress;
  /** 0: any free port. */
  readonly port: number;
  readonly reusePort: boolean;
  readonly backlog: number;
  /** `::` leaves IPv4 to other sockets. */
  readonly onlyIpv6?: boolean | undefined;
}

export interface LoopListenerOptions extends LoopListenOptions {
  /** A socket that listens there already; the listener takes it over. */
  readonly fd?: number | undefined;
  onConnection(socket: LoopSocket): void;
}

/** Connections accepted in one round: a flood of new connections must not delay the open ones. */
const ACCEPTS_MAX = 64;
/** Pause after an accept that failed for lack of descriptors or memory, in milliseconds. */
const SHORTAGE_MS = 50;
/** ENOMEM, ENFILE, EMFILE, ENOBUFS (errno(3)): the connection stays in the kernel's queue. */
const SHORTAGES: ReadonlySet<number> = new Set([-12, -23, -24, -105]);

/** A listening TCP port in the epoll loop. Throws the system's error if it cannot listen. */
export class LoopListener implements Watched {
  readonly port: number;
  id = 0;
  fd: number;
  private readonly loop: SocketLoop;
  private readonly calls: SocketCalls;
  private readonly onConnection: (socket: LoopSocket) => void;
  private shortage: NodeJS.Timeout | null = null;

  constructor(loop: SocketLoop, options: LoopListenerOptions) {
    this.loop = loop;
    this.calls = loop.calls;
    this.onConnection = options.onConnection;
    this.fd = options.fd === undefined ? openListening(this.calls, options) : opened(options.fd);
    this.watch(options.address, options.port);
    this.port = this.calls.localEnd(this.fd).port;
  }

  close(): void {
    if (this.fd < 0) return;
    if (this.shortage !== null) clearTimeout(this.shortage);
    this.loop.forget(this);
    this.calls.close(this.fd);
    this.fd = -1;
  }

  /** An exception over one connection does not end the listener. */
  abandon(): void {}

  onEvents(): void {
    for (let accepts = 0; accepts < ACCEPTS_MAX && this.fd >= 0; accepts++) {
      const fd = this.calls.accept(this.fd);
      if (fd >= 0) this.welcome(fd);
      else if (fd === EAGAIN) return;
      else if (SHORTAGES.has(fd)) return this.rest();
      // Any other error belongs to a connection that was gone before it was accepted (accept(2)).
    }
  }

  private welcome(fd: number): void {
    const socket = new LoopSocket(this.loop, fd, this.calls.peer());
    if (!socket.start()) return;
    try {
      this.onConnection(socket);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  private rest(): void {
    if (this.shortage !== null) return;
    this.loop.change(this, 0);
    this.shortage = setTimeout(() => {
      this.shortage = null;
      this.loop.change(this, EPOLLIN);
    }, SHORTAGE_MS);
  }

  private watch(address: IpAddress, port: number): void {
    const result = this.loop.add(this, EPOLLIN);
    if (result >= 0) return;
    this.calls.close(this.fd);
    throw listenError(result, formatIp(address), port);
  }
}

/** Opens a listening socket and returns its descriptor. Throws the system's error if it cannot listen. */
export function openListening(
  calls: Pick<SocketCalls, "open" | "set" | "bind" | "listen" | "close">,
  { address, port, reusePort, backlog, onlyIpv6 = false }: LoopListenOptions,
): number {
  const checked = (result: number): number => {
    if (result < 0) throw listenError(result, formatIp(address), port);
    return result;
  };
  const fd = checked(calls.open(address.family));
  try {
    calls.set(fd, "reuseAddress", 1);
    if (reusePort) checked(calls.set(fd, "reusePort", 1));
    // As in Node.js, `::` accepts both families by default.
    if (address.family === 6) calls.set(fd, "onlyIpv6", onlyIpv6 ? 1 : 0);
    // Accepted sockets inherit the option on Linux (tcp(7)).
    calls.set(fd, "noDelay", 1);
    checked(calls.bind(fd, address, port));
    checked(calls.listen(fd, backlog));
    return fd;
  } catch (error) {
    calls.close(fd);
    throw error;
  }
}
