import { getSystemErrorName } from "node:util";
import { formatIp, type IpAddress } from "#kernel/net/ip.ts";
import { type OnMissing, reasonOf, unknownPlatform } from "#kernel/process/native-transport.ts";
import { type Koffi, type Library, loadKoffi } from "#wire/native/koffi.ts";
import { LINUX, STRUCTS } from "#wire/native/linux.ts";
import { createWakeUp, type WakeUp } from "#wire/native/wake-up.ts";
import { RECEIVE_BUFFER_BYTES } from "./udp.ts";

/** System calls that handle many datagrams at once, which Node.js does not offer. None of them blocks. */
export interface SystemSockets {
  /** Whether the kernel supports UDP_SEGMENT (udp(7)); an older one would send the message unsplit. */
  readonly cutsMessages: boolean;
  /** Returns the file descriptor of a bound UDP socket. Throws the system's error, with its `code`. */
  bindUdp(address: IpAddress, port: number, reusePort: boolean, onlyIpv6?: boolean): number;
  /** The port that the socket is bound to. */
  portOf(fd: number): number;
  /**
   * Calls back in each tick in which the socket is readable; if the callback returns true, again in the next tick. A
   * watch keeps the thread alive until it is closed, which must happen before `close`.
   */
  watch(fd: number, onTurn: () => boolean): SocketWatch;
  /**
   * Calls back once when the socket becomes readable. Only for threads that are not terminated by force, which would
   * crash the process.
   */
  awaitFirst(fd: number, onReadable: () => void): SocketWatch;
  /** recvmmsg(2) into `count` headers at the memory address: the number received, or -1 if none waits. */
  receive(fd: number, headers: number, count: number): number;
  /** sendmmsg(2) of the headers: the number sent before a failure, or the system's negative error code if the first failed. */
  send(fd: number, headers: number, count: number): number;
  /** sendto(2) of one datagram to the socket address `name`; whether the system accepted it. */
  sendTo(fd: number, bytes: Uint8Array, name: Uint8Array): boolean;
  close(fd: number): void;
  /** Blocks the thread for the time, plus up to 50 µs that Linux adds. */
  pause(us: number): void;
  /** The memory address of `bytes`, valid while something refers to `bytes`. */
  addressOf(bytes: Uint8Array): number;
}

export interface SocketWatch {
  close(): void;
}

const { AF_INET, AF_INET6, SOCK_DGRAM, SOCK_CLOEXEC, SOL_SOCKET, SO_RCVBUF, SO_REUSEPORT, MSG_DONTWAIT } = LINUX;
const { IPPROTO_IPV6, IPV6_V6ONLY, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, IPPROTO_UDP, UDP_SEGMENT } = LINUX;
const { sockaddr_in, sockaddr_in6 } = STRUCTS;

const LAYOUT_KNOWN: ReadonlySet<string> = new Set(["linux-x64", "linux-arm64"]);

/**
 * Undefined if koffi is not installed or does not load, or the platform's struct layouts are unknown; tells `onMissing`
 * which.
 */
export async function loadSystemSockets(onMissing: OnMissing = () => undefined): Promise<SystemSockets | undefined> {
  if (!LAYOUT_KNOWN.has(`${process.platform}-${process.arch}`)) {
    onMissing("datagrams", unknownPlatform());
    return undefined;
  }
  try {
    return bindings(await loadKoffi());
  } catch (error) {
    onMissing("datagrams", reasonOf(error));
    return undefined;
  }
}

function bindings(koffi: Koffi): SystemSockets {
  const libc = koffi.load("libc.so.6");
  const recvmmsg = libc.func("int recvmmsg(int fd, uintptr_t headers, uint32_t count, int flags, uintptr_t timeout)");
  const sendmmsg = libc.func("int sendmmsg(int fd, uintptr_t headers, uint32_t count, int flags)");
  const sendto = libc.func("intptr_t sendto(int fd, void *bytes, size_t count, int flags, void *name, uint32_t length)");
  const usleep = libc.func("int usleep(uint32_t us)");
  const close = libc.func("int close(int fd)");
  const wakeUp = createWakeUp(koffi);
  return {
    ...opening(koffi, libc, close),
    watch: (fd, onTurn) => createWatch(wakeUp, fd, onTurn),
    awaitFirst: (fd, onReadable) => awaitFirst(koffi, fd, onReadable),
    receive: (fd, headers, count) => recvmmsg(fd, headers, count, MSG_DONTWAIT, 0),
    send: (fd, headers, count) => {
      const sent = sendmmsg(fd, headers, count, MSG_DONTWAIT);
      return sent > 0 ? sent : -koffi.errno();
    },
    sendTo: (fd, bytes, name) => Number(sendto(fd, bytes, bytes.length, MSG_DONTWAIT, name, name.length)) === bytes.length,
    close: (fd) => void close(fd),
    pause: (us) => void usleep(us),
    addressOf: (bytes) => Number(koffi.address(bytes)),
  };
}

function opening(koffi: Koffi, libc: Library, close: (fd: number) => number): Pick<SystemSockets, "cutsMessages" | "bindUdp" | "portOf"> {
  const socket = libc.func("int socket(int domain, int type, int protocol)");
  const bind = libc.func("int bind(int fd, void *address, uint32_t length)");
  const getsockname = libc.func("int getsockname(int fd, void *address, void *length)");
  const setOption = libc.func("int setsockopt(int fd, int level, int name, void *value, uint32_t length)");

  const checked = (call: string, result: number): number => {
    if (result >= 0) return result;
    const errno = -koffi.errno();
    const code = getSystemErrorName(errno);
    throw Object.assign(new Error(`${call} ${code}`), { code, errno, syscall: call });
  };
  const set = (fd: number, level: number, name: number, value: number): number => setOption(fd, level, name, Int32Array.of(value), 4);
  const cutsMessages = (): boolean => {
    const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const known = set(fd, IPPROTO_UDP, UDP_SEGMENT, 0) === 0;
    close(fd);
    return known;
  };
  return {
    cutsMessages: cutsMessages(),
    bindUdp: (address, port, reusePort, onlyIpv6 = false) => {
      const fd = checked("socket", socket(address.family === 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      try {
        if (reusePort) checked("setsockopt", set(fd, SOL_SOCKET, SO_REUSEPORT, 1));
        if (onlyIpv6) checked("setsockopt", set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1));
        // A smaller buffer or fragmented answers still work, so errors are ignored.
        set(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
        set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
        const where = socketAddress(address, port);
        checked("bind", bind(fd, where, where.length));
        return fd;
      } catch (error) {
        close(fd);
        throw Object.assign(error as Error, { address: formatIp(address), port });
      }
    },
    portOf: (fd) => {
      const address = Buffer.alloc(sockaddr_in6.bytes);
      checked("getsockname", getsockname(fd, address, Int32Array.of(address.length)));
      return address.readUInt16BE(sockaddr_in.sin_port);
    },
  };
}

function createWatch(wakeUp: WakeUp, fd: number, onTurn: () => boolean): SocketWatch {
  let isOpen = true;
  let isAsked = true;
  const handle = wakeUp(fd);
  const work = (): void => {
    if (!isOpen) return;
    const goesOn = onTurn();
    awaitTurn(goesOn);
    if (goesOn !== isAsked) return;
    // While the callback polls, the event loop need not watch the socket.
    isAsked = !goesOn;
    if (isAsked) handle.start();
    else handle.stop();
  };
  const awaitTurn = (atOnce: boolean): void => {
    const turn = setImmediate(work);
    if (!atOnce) turn.unref();
  };
  awaitTurn(false);
  return {
    close: () => {
      isOpen = false;
      handle.close();
    },
  };
}

/**
 * koffi's callbacks run outside of Node.js's callback scope, where promises, errors and thread termination are not
 * handled, so the work is deferred to the same tick of the event loop.
 */
function awaitFirst(koffi: Koffi, fd: number, onReadable: () => void): SocketWatch {
  let isOpen = true;
  const handle = koffi.node.poll(fd, { readable: true }, () => {
    handle.stop();
    setImmediate(() => {
      if (isOpen) onReadable();
    });
  });
  return {
    close: () => {
      isOpen = false;
      handle.close();
    },
  };
}

/** struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)): the family in machine order, the port in network order. */
function socketAddress({ family, bytes }: IpAddress, port: number): Buffer {
  const address = Buffer.alloc(family === 4 ? sockaddr_in.bytes : sockaddr_in6.bytes);
  address.writeUInt16LE(family === 4 ? AF_INET : AF_INET6, sockaddr_in.sin_family);
  address.writeUInt16BE(port, sockaddr_in.sin_port);
  address.set(bytes, family === 4 ? sockaddr_in.sin_addr : sockaddr_in6.sin6_addr);
  return address;
}
