import { formatIp, type IpAddress } from "#kernel/net/ip.ts";
import { LoopSocket } from "./loop-socket.ts";
import { EAGAIN, EPOLLIN, listenError, type SocketCalls } from "./socket-calls.ts";
import { opened } from "#kernel/process/fd-registry.ts";
import type { SocketLoop, Watched } from "./socket-loop.ts";

/** Where to listen. */
export interface ListeningPlace {
  readonly address: IpAddress;
  /** 0: any that is free. */
  readonly port: number;
  readonly reusePort: boolean;
  readonly backlog: number;
}

export interface LoopListenerOptions extends ListeningPlace {
  /** A socket that listens there already and belongs to nobody else. */
  readonly fd?: number | undefined;
  onConnection(socket: LoopSocket): void;
}

/** Whoever waits is accepted so many at a time, or a flood of connections would keep the open ones waiting. */
const ACCEPTS_MAX = 64;
/** Without descriptors or memory the next attempt is worth nothing for a while. */
const SHORTAGE_MS = 50;
/** ENOMEM, ENFILE, EMFILE, ENOBUFS (errno(3)): the connection stays where it is. */
const SHORTAGES: ReadonlySet<number> = new Set([-12, -23, -24, -105]);

/** A listening port of TCP in our own loop. Throws the system's error where it cannot be had. */
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

  /** What is thrown over one connection is not the listener's end. */
  abandon(): void {}

  onEvents(): void {
    for (let accepts = 0; accepts < ACCEPTS_MAX && this.fd >= 0; accepts++) {
      const fd = this.calls.accept(this.fd);
      if (fd >= 0) this.welcome(fd);
      else if (fd === EAGAIN) return;
      else if (SHORTAGES.has(fd)) return this.rest();
      // Any other error is that of a connection which did not wait to be accepted (accept(2)).
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

/** A socket that listens, as a descriptor. Throws the system's error where it cannot be had. */
export function openListening(
  calls: Pick<SocketCalls, "open" | "set" | "bind" | "listen" | "close">,
  { address, port, reusePort, backlog }: ListeningPlace,
): number {
  const checked = (result: number): number => {
    if (result < 0) throw listenError(result, formatIp(address), port);
    return result;
  };
  const fd = checked(calls.open(address.family));
  try {
    calls.set(fd, "reuseAddress", 1);
    if (reusePort) checked(calls.set(fd, "reusePort", 1));
    // As Node.js has it: `::` is for both families.
    if (address.family === 6) calls.set(fd, "onlyIpv6", 0);
    // Linux gives it to the sockets that are accepted (tcp(7)).
    calls.set(fd, "noDelay", 1);
    checked(calls.bind(fd, address, port));
    checked(calls.listen(fd, backlog));
    return fd;
  } catch (error) {
    calls.close(fd);
    throw error;
  }
}
