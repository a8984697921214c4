import { getSystemErrorName } from "node:util";
import type { IpAddress } from "#kernel/ip.ts";

/** The system's calls that carry many datagrams at once, which Node does not offer. None of them waits. */
export interface SystemSockets {
  /** A UDP socket that is bound, as a file descriptor. Throws the system's error, with its `code`. */
  bindUdp(address: IpAddress, port: number, reusePort: boolean): number;
  /** recvmmsg(2) into as many headers as there are: how many were received, or -1 where nothing waits. */
  receive(fd: number, headers: Uint8Array, count: number): number;
  /** sendmmsg(2): how many were sent before one failed, or -1 where that was the first. */
  send(fd: number, headers: Uint8Array, count: number): number;
  /** For a socket that Node has taken over: Node's own reuse of addresses would let others take its port. */
  forbidReuse(fd: number): void;
  close(fd: number): void;
  /** Where the memory of `bytes` starts. It stays there for as long as something refers to `bytes`. */
  addressOf(bytes: Uint8Array): bigint;
}

/** Values of Linux, the same on x64 and arm64: socket(2), socket(7), recv(2). */
export const AF_INET = 2;
export const AF_INET6 = 10;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_REUSEPORT = 15;
const MSG_DONTWAIT = 0x40;

const LAYOUT_KNOWN: ReadonlySet<string> = new Set(["linux-x64", "linux-arm64"]);

/** Undefined where koffi is not installed or does not load, or the system is not one whose layouts we know. */
export async function loadSystemSockets(): Promise<SystemSockets | undefined> {
  if (!LAYOUT_KNOWN.has(`${process.platform}-${process.arch}`)) return undefined;
  try {
    const { default: koffi } = await import("koffi");
    return bindings(koffi);
  } catch {
    return undefined;
  }
}

function bindings(koffi: typeof import("koffi").default): SystemSockets {
  const libc = koffi.load("libc.so.6");
  const socket = libc.func("int socket(int domain, int type, int protocol)");
  const bind = libc.func("int bind(int fd, void *address, uint32_t length)");
  const setOption = libc.func("int setsockopt(int fd, int level, int name, void *value, uint32_t length)");
  const recvmmsg = libc.func("int recvmmsg(int fd, void *headers, uint32_t count, int flags, void *timeout)");
  const sendmmsg = libc.func("int sendmmsg(int fd, void *headers, uint32_t count, int flags)");
  const close = libc.func("int close(int fd)");

  const checked = (call: string, result: number): number => {
    if (result >= 0) return result;
    const errno = -koffi.errno();
    const code = getSystemErrorName(errno);
    throw Object.assign(new Error(`${call} ${code}`), { code, errno, syscall: call });
  };
  const setFlag = (fd: number, name: number, on: boolean): void => {
    checked("setsockopt", setOption(fd, SOL_SOCKET, name, Uint8Array.of(on ? 1 : 0, 0, 0, 0), 4));
  };
  return {
    bindUdp: (address, port, reusePort) => {
      const fd = checked("socket", socket(address.family === 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      try {
        if (reusePort) setFlag(fd, SO_REUSEPORT, true);
        const where = socketAddress(address, port);
        checked("bind", bind(fd, where, where.length));
        return fd;
      } catch (error) {
        close(fd);
        throw error;
      }
    },
    receive: (fd, headers, count) => recvmmsg(fd, headers, count, MSG_DONTWAIT, null),
    send: (fd, headers, count) => sendmmsg(fd, headers, count, MSG_DONTWAIT),
    forbidReuse: (fd) => setFlag(fd, SO_REUSEADDR, false),
    close: (fd) => void close(fd),
    addressOf: (bytes) => koffi.address(bytes),
  };
}

/** struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)): the family in the machine's order, the port in the network's. */
function socketAddress({ family, bytes }: IpAddress, port: number): Buffer {
  const address = Buffer.alloc(family === 4 ? 16 : 28);
  address.writeUInt16LE(family === 4 ? AF_INET : AF_INET6, 0);
  address.writeUInt16BE(port, 2);
  address.set(bytes, family === 4 ? 4 : 8);
  return address;
}
