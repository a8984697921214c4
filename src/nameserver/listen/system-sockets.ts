import { getSystemErrorName } from "node:util";
import type { IpAddress } from "#kernel/net/ip.ts";
import { type OnMissing, reasonOf, unknownPlatform } from "#kernel/process/native-transport.ts";
import { type Koffi, type Library, loadKoffi } from "#wire/native/koffi.ts";
import { LINUX, STRUCTS } from "#wire/native/linux.ts";
import { createWakeUp, type WakeUp } from "#wire/native/wake-up.ts";
import { RECEIVE_BUFFER_BYTES } from "./udp.ts";

/** The system's calls that carry many datagrams at once, which Node does not offer. None of them waits. */
export interface SystemSockets {
  /** The kernel knows UDP_SEGMENT (udp(7)); one that does not would send what is to be cut as it is. */
  readonly cutsMessages: boolean;
  /** A UDP socket that is bound, as a file descriptor. Throws the system's error, with its `code`. */
  bindUdp(address: IpAddress, port: number, reusePort: boolean): number;
  /** The port that it is bound to. */
  portOf(fd: number): number;
  /**
   * Calls back in each turn of the event loop, which wakes up when something waits in the socket; where the call returns true,
   * the next turn comes at once. Only one that is closed, which comes before `close`, lets the thread end.
   */
  watch(fd: number, onTurn: () => boolean): SocketWatch;
  /** Calls back once something waits in the socket. For threads alone that nobody ends by force: that would end the process. */
  awaitFirst(fd: number, onReadable: () => void): SocketWatch;
  /** recvmmsg(2) into `count` headers from the address on: how many were received, or -1 where nothing waits. */
  receive(fd: number, headers: number, count: number): number;
  /** sendmmsg(2) of the same: how many were sent before one failed, or the system's error below 0 where that was the first. */
  send(fd: number, headers: number, count: number): number;
  /** sendto(2) of one datagram to the socket address `name`: whether the system took it. */
  sendTo(fd: number, bytes: Uint8Array, name: Uint8Array): boolean;
  close(fd: number): void;
  /** The thread sleeps for so long, and up to 50 µs more, which Linux takes for itself. */
  pause(us: number): void;
  /** Where the memory of `bytes` starts. It stays there for as long as something refers to `bytes`. */
  addressOf(bytes: Uint8Array): number;
}

export interface SocketWatch {
  close(): void;
}

const { AF_INET, AF_INET6, SOCK_DGRAM, SOCK_CLOEXEC, SOL_SOCKET, SO_RCVBUF, SO_REUSEPORT, MSG_DONTWAIT } = LINUX;
const { IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, IPPROTO_UDP, UDP_SEGMENT } = LINUX;
const { sockaddr_in, sockaddr_in6 } = STRUCTS;

const LAYOUT_KNOWN: ReadonlySet<string> = new Set(["linux-x64", "linux-arm64"]);

/** Undefined where koffi is not installed or does not load, or the system is not one whose layouts we know; `onMissing` is told which. */
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
    bindUdp: (address, port, reusePort) => {
      const fd = checked("socket", socket(address.family === 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      try {
        if (reusePort) checked("setsockopt", set(fd, SOL_SOCKET, SO_REUSEPORT, 1));
        // Without more of it, or with answers in fragments, it works as well.
        set(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
        set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
        const where = socketAddress(address, port);
        checked("bind", bind(fd, where, where.length));
        return fd;
      } catch (error) {
        close(fd);
        throw error;
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
    // While it is not asked, the system need not look for it at each datagram either.
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
 * koffi calls back outside of what Node does around callbacks of its own, where promises, errors and the end of the
 * thread have no place: nothing happens there but that the work is put into the same turn of the event loop.
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

/** struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)): the family in the machine's order, the port in the network's. */
function socketAddress({ family, bytes }: IpAddress, port: number): Buffer {
  const address = Buffer.alloc(family === 4 ? sockaddr_in.bytes : sockaddr_in6.bytes);
  address.writeUInt16LE(family === 4 ? AF_INET : AF_INET6, sockaddr_in.sin_family);
  address.writeUInt16BE(port, sockaddr_in.sin_port);
  address.set(bytes, family === 4 ? sockaddr_in.sin_addr : sockaddr_in6.sin6_addr);
  return address;
}
