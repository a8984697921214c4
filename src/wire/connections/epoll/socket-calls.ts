import { getSystemErrorName } from "node:util";
import { formatIp, type IpAddress, unmapIp } from "#kernel/net/ip.ts";
import { type OnMissing, reasonOf, unknownPlatform } from "#kernel/process/native-transport.ts";
import { releaseFd, opened } from "#kernel/process/fd-registry.ts";
import { loadOpenSsl, type OpenSsl } from "#wire/native/openssl.ts";
import { SLOT_BYTES, type BufferSlot, bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import { encryptedMax, SECURE_BUFFER } from "#wire/connections/buffers/secure-buffer.ts";
import type { End } from "#wire/connections/transport/transport.ts";
import { type Koffi, type Library, loadKoffi } from "#wire/native/koffi.ts";
import { EPOLL_EVENTS, LINUX, ofPlatform, STRUCTS } from "#wire/native/linux.ts";
import { createWakeUp, type WakeUp } from "#wire/native/wake-up.ts";

/** System calls for TCP, unchanged. None of them blocks. A negative result is a negated error number. */
export interface SocketCalls {
  /** Opens a TCP socket. */
  open(family: 4 | 6): number;
  bind(fd: number, address: IpAddress, port: number): number;
  listen(fd: number, backlog: number): number;
  /** Accepts the next connection; `peer` returns its address until the next call. */
  accept(fd: number): number;
  peer(): End;
  connect(fd: number, address: IpAddress, port: number): number;
  localEnd(fd: number): End;
  set(fd: number, option: SocketOption, value: number): number;
  /** The error that a connection failed with; 0 if it did not fail. */
  pendingError(fd: number): number;
  /** Ends our side. */
  shutdown(fd: number): number;
  close(fd: number): void;
  /** Makes `close` drop waiting bytes and send a reset. */
  resetOnClose(fd: number): void;

  /** Reads at most `SLOT_BYTES` into the thread's current slot. */
  receive(fd: number, bytesMax: number): number;
  /** A place for reads of this thread in memory that several threads share. */
  placeIn(memory: SharedArrayBuffer, offset: number): BufferSlot;
  /** Sends a text of characters below 256, at most `TEXT_BYTES_MAX` of them. `more`: further bytes follow at once. */
  sendText(fd: number, text: string, more: boolean): number;
  /**
   * Sends the text, `bytes[start, end)` and the tail: at most `SLOT_BYTES` of bytes, and `TEXT_BYTES_MAX` of text and
   * tail together.
   */
  sendTextAndBytes(fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number;
  send(fd: number, bytes: Uint8Array): number;
  /** The buffer in which the thread's sockets gather bytes to send. */
  readonly outbox: Buffer;
  /** Sends `outbox[start, end)`. */
  sendGathered(fd: number, start: number, end: number): number;

  epollCreate(): number;
  /** `id` is returned with the events. */
  epollAdd(epoll: number, fd: number, events: number, id: number): number;
  epollModify(epoll: number, fd: number, events: number, id: number): number;
  epollRemove(epoll: number, fd: number): number;
  /** Number of events, up to `EVENTS_MAX`; they are valid until the next call. */
  epollWait(epoll: number): number;
  eventsAt(index: number): number;
  fdAt(index: number): number;
  idAt(index: number): number;

  wakeUp: WakeUp;
  /** TLS on the same sockets; null if Node.js was built with an OpenSSL that we do not know. */
  readonly secure: SecureCalls | null;
}

/** TLS calls, with memory that all connections of a thread share. */
export interface SecureCalls {
  readonly openSsl: OpenSsl;
  /** Bytes to send are gathered here. */
  readonly buffer: Buffer;
  readonly at: number;
  /** Address of `SECURE_BUFFER`. */
  readonly readAt: number;
  /** Address of the outbox. */
  readonly outboxAt: number;
  /** Encrypted bytes of the socket, before OpenSSL gets them: with a record that was read in part, their content fits in `SECURE_BUFFER`. */
  readonly raw: Buffer;
  /** Reads at most `bytesMax` into `raw`. */
  receive(fd: number, bytesMax: number): number;
}

export const { EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP, EPOLLET } = LINUX;
/** Error numbers as calls return them. */
export const EAGAIN = -LINUX.EAGAIN;
/** Stands for any failure of TLS. */
export const EPROTO = -LINUX.EPROTO;
export const EINPROGRESS = -LINUX.EINPROGRESS;

/** The longest text that is sent in one call, in bytes. */
export const TEXT_BYTES_MAX = 32_768;
export const EVENTS_MAX = 256;
const RAW_BYTES = encryptedMax(SECURE_BUFFER.length);
/** Short reads of a tick, besides the first, that are kept for late tasks. */
const SPARE_PLACES = 8;
/** Room for a text and the longest read. */
const SEND_BYTES = TEXT_BYTES_MAX + SLOT_BYTES;
/** Room for about a hundred responses of a kilobyte. */
const OUTBOX_BYTES = 128 * 1024;

const { AF_INET, AF_INET6, SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC, SHUT_WR, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_MORE } = LINUX;
const { EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, SOL_SOCKET, SO_ERROR, SO_LINGER } = LINUX;
const { sockaddr_in, sockaddr_in6, linger } = STRUCTS;
const SEND_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL;
const SOCKET_ADDRESS_BYTES_MAX = sockaddr_in6.bytes;

/** Level and name of each socket option. */
const OPTIONS = {
  reuseAddress: [SOL_SOCKET, LINUX.SO_REUSEADDR],
  sendBufferBytes: [SOL_SOCKET, LINUX.SO_SNDBUF],
  reusePort: [SOL_SOCKET, LINUX.SO_REUSEPORT],
  noDelay: [LINUX.IPPROTO_TCP, LINUX.TCP_NODELAY],
  onlyIpv6: [LINUX.IPPROTO_IPV6, LINUX.IPV6_V6ONLY],
} as const;
export type SocketOption = keyof typeof OPTIONS;

/**
 * Loads the calls; null if koffi is not installed or does not load, or we do not know the constants of this system.
 * `onMissing` gets the reason.
 */
export async function loadSocketCalls(onMissing: OnMissing = () => undefined): Promise<SocketCalls | null> {
  const missing = (reason: string): null => {
    onMissing("connections", reason);
    onMissing("tls", reason);
    return null;
  };
  const layout = ofPlatform(EPOLL_EVENTS);
  if (layout === undefined) return missing(unknownPlatform());
  try {
    const koffi = await loadKoffi();
    const libc = koffi.load("libc.so.6");
    const [outbox, outboxAt] = memory(koffi, OUTBOX_BYTES);
    return {
      ...ends(koffi, libc),
      ...bytes(koffi, libc, outboxAt),
      outbox,
      placeIn: (shared, offset) => placeIn(koffi, shared, offset),
      ...epoll(koffi, libc, layout),
      wakeUp: createWakeUp(koffi),
      secure: secureCalls(koffi, libc, outboxAt, onMissing),
    };
  } catch (error) {
    return missing(reasonOf(error));
  }
}

/** The system's error for a socket that cannot listen, in the form of Node.js. */
export function listenError(errno: number, address: string, port: number): NodeJS.ErrnoException {
  const code = errorCode(errno);
  return Object.assign(new Error(`listen ${code} ${address}:${port}`), { code, errno, syscall: "listen", address, port });
}

/** For example `ECONNRESET`. */
export const errorCode = (errno: number): string => getSystemErrorName(errno);

/** Memory that system calls access by address: the garbage collector must not free it while this thread may call. */
const kept: (Uint8Array | SharedArrayBuffer)[] = [];

function memory(koffi: Koffi, length: number): readonly [Buffer, number] {
  const buffer = Buffer.allocUnsafeSlow(length).fill(0);
  kept.push(buffer);
  return [buffer, Number(koffi.address(buffer))];
}

/** The system allocates its pages only when a read fills them. */
function untouchedPlace(koffi: Koffi, bytes: number): BufferSlot {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  kept.push(buffer);
  return { buffer, at: Number(koffi.address(buffer)) };
}

/** A view that V8 does not treat as shared memory: it would copy shared memory word by word. */
function placeIn(koffi: Koffi, memory: SharedArrayBuffer, offset: number): BufferSlot {
  if (!kept.includes(memory)) kept.push(memory);
  const at = koffi.address(Buffer.from(memory, offset, SLOT_BYTES));
  return { buffer: Buffer.from(koffi.view(at, SLOT_BYTES)), at: Number(at) };
}

function secureCalls(koffi: Koffi, libc: Library, outboxAt: number, onMissing: OnMissing): SecureCalls | null {
  try {
    const recv = libc.func("intptr_t recv(int fd, uintptr_t bytes, size_t length, int flags)");
    const [buffer, at] = memory(koffi, SEND_BYTES);
    const { buffer: raw, at: rawAt } = untouchedPlace(koffi, RAW_BYTES);
    return {
      ...{ openSsl: loadOpenSsl(koffi, { raw, at: rawAt }), buffer, at, readAt: bufferSlots.addressOf(SECURE_BUFFER), outboxAt, raw },
      receive: (fd, bytesMax) => {
        const returned = recv(fd, rawAt, bytesMax, MSG_DONTWAIT) as number;
        return returned < 0 ? -koffi.errno() : returned;
      },
    };
  } catch (error) {
    onMissing("tls", reasonOf(error));
    return null;
  }
}

type Ends = Pick<
  SocketCalls,
  "open" | "bind" | "listen" | "accept" | "peer" | "connect" | "localEnd" | "set" | "pendingError" | "shutdown" | "close" | "resetOnClose"
>;

function ends(koffi: Koffi, libc: Library): Ends {
  const socket = libc.func("int socket(int domain, int type, int protocol)");
  const bind = libc.func("int bind(int fd, uintptr_t address, uint32_t length)");
  const listen = libc.func("int listen(int fd, int backlog)");
  const accept4 = libc.func("int accept4(int fd, uintptr_t address, uintptr_t length, int flags)");
  const connect = libc.func("int connect(int fd, uintptr_t address, uint32_t length)");
  const getsockname = libc.func("int getsockname(int fd, uintptr_t address, uintptr_t length)");
  const setsockopt = libc.func("int setsockopt(int fd, int level, int name, uintptr_t value, uint32_t length)");
  const getsockopt = libc.func("int getsockopt(int fd, int level, int name, uintptr_t value, uintptr_t length)");
  const shutdown = libc.func("int shutdown(int fd, int how)");
  const close = libc.func("int close(int fd)");
  const [name, nameAt] = memory(koffi, SOCKET_ADDRESS_BYTES_MAX);
  const [length, lengthAt] = memory(koffi, 4);
  const [value, valueAt] = memory(koffi, 8);
  const result = (returned: number): number => (returned < 0 ? -koffi.errno() : returned);
  return {
    open: (family) => opened(result(socket(family === 4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))),
    bind: (fd, address, port) => result(bind(fd, nameAt, writeName(name, address, port))),
    listen: (fd, backlog) => result(listen(fd, backlog)),
    accept: (fd) => {
      length.writeInt32LE(SOCKET_ADDRESS_BYTES_MAX);
      return opened(result(accept4(fd, nameAt, lengthAt, SOCK_NONBLOCK | SOCK_CLOEXEC)));
    },
    peer: () => ({ address: readName(name), port: name.readUInt16BE(2) }),
    connect: (fd, address, port) => result(connect(fd, nameAt, writeName(name, address, port))),
    localEnd: (fd) => {
      length.writeInt32LE(SOCKET_ADDRESS_BYTES_MAX);
      if (getsockname(fd, nameAt, lengthAt) < 0) return { address: "", port: 0 };
      return { address: readName(name), port: name.readUInt16BE(sockaddr_in.sin_port) };
    },
    set: (fd, option, to) => {
      const [level, number] = OPTIONS[option];
      value.writeInt32LE(to);
      return result(setsockopt(fd, level, number, valueAt, 4));
    },
    pendingError: (fd) => {
      length.writeInt32LE(4);
      if (getsockopt(fd, SOL_SOCKET, SO_ERROR, valueAt, lengthAt) < 0) return -koffi.errno();
      return -value.readInt32LE();
    },
    shutdown: (fd) => result(shutdown(fd, SHUT_WR)),
    close: (fd) => {
      releaseFd(fd);
      close(fd);
    },
    resetOnClose: (fd) => {
      // On, with 0 seconds.
      value.writeInt32LE(1, linger.l_onoff);
      value.writeInt32LE(0, linger.l_linger);
      setsockopt(fd, SOL_SOCKET, SO_LINGER, valueAt, linger.bytes);
    },
  };
}

type Bytes = Pick<SocketCalls, "receive" | "sendText" | "sendTextAndBytes" | "send" | "sendGathered">;

function bytes(koffi: Koffi, libc: Library, outboxAt: number): Bytes {
  const recv = libc.func("intptr_t recv(int fd, uintptr_t bytes, size_t length, int flags)");
  const sendAt = libc.func("int send(int fd, uintptr_t bytes, size_t length, int flags)");
  const sendBytes = libc.func("int send(int fd, void *bytes, size_t length, int flags)");
  const [buffer, bufferAt] = memory(koffi, SEND_BYTES);
  const [place, placeAt] = memory(koffi, SLOT_BYTES);
  const spare = Array.from({ length: SPARE_PLACES }, () => untouchedPlace(koffi, SLOT_BYTES));
  bufferSlots.begin({ buffer: place, at: placeAt }, spare, Number(koffi.address(READ_BUFFER)), Number(koffi.address(SECURE_BUFFER)));
  const result = (returned: number): number => (returned < 0 ? -koffi.errno() : returned);
  return {
    receive: (fd, bytesMax) => result(recv(fd, bufferSlots.forRead().at, bytesMax, MSG_DONTWAIT)),
    sendText: (fd, text, more) => {
      buffer.write(text, 0, "latin1");
      return result(sendAt(fd, bufferAt, text.length, more ? SEND_FLAGS | MSG_MORE : SEND_FLAGS));
    },
    sendTextAndBytes: (fd, text, bytes, start, end, tail) => {
      const at = text === "" && tail === "" ? bufferSlots.addressOf(bytes) : 0;
      if (at > 0) return result(sendAt(fd, at + start, end - start, SEND_FLAGS));
      return result(sendAt(fd, bufferAt, gather(buffer, 0, text, bytes, start, end, tail), SEND_FLAGS));
    },
    sendGathered: (fd, start, end) => result(sendAt(fd, outboxAt + start, end - start, SEND_FLAGS)),
    send: (fd, piece) => result(sendBytes(fd, piece, piece.length, SEND_FLAGS)),
  };
}

/** Up to this length writing a text byte by byte is cheaper than a call: the size of a chunk, or the end of a line. */
const WRITTEN_CHARACTERS_MAX = 16;

/** Writes `text`, `bytes[start, end)` and `tail` into `into`, one behind the other. Returns their length. */
export function gather(into: Buffer, at: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number {
  put(into, at, text);
  const bytesAt = at + text.length;
  if (start < end) bytes.copy(into, bytesAt, start, end);
  put(into, bytesAt + end - start, tail);
  return text.length + end - start + tail.length;
}

function put(into: Buffer, at: number, text: string): void {
  if (text.length > WRITTEN_CHARACTERS_MAX) into.write(text, at, "latin1");
  else for (let i = 0; i < text.length; i++) into[at + i] = text.charCodeAt(i);
}

type Epoll = Pick<SocketCalls, "epollCreate" | "epollAdd" | "epollModify" | "epollRemove" | "epollWait" | "eventsAt" | "fdAt" | "idAt">;

function epoll(koffi: Koffi, libc: Library, { data, bytes }: (typeof EPOLL_EVENTS)[keyof typeof EPOLL_EVENTS]): Epoll {
  const create = libc.func("int epoll_create1(int flags)");
  const control = libc.func("int epoll_ctl(int epoll, int operation, int fd, uintptr_t event)");
  const wait = libc.func("int epoll_wait(int epoll, uintptr_t events, int count, int timeout)");
  const [one, oneAt] = memory(koffi, 16);
  const [many, manyAt] = memory(koffi, EVENTS_MAX * bytes);
  // The event has 8 bytes of data: 4 for the descriptor and 4 for the socket's id.
  const layout = { words: bytes / 4, fd: data / 4, id: data / 4 + 1 };
  const words = new Int32Array(many.buffer, many.byteOffset, EVENTS_MAX * layout.words);
  const result = (returned: number): number => (returned < 0 ? -koffi.errno() : returned);
  const describe = (fd: number, events: number, id: number): number => {
    one.writeInt32LE(events, 0);
    one.writeInt32LE(fd, layout.fd * 4);
    one.writeInt32LE(id, layout.id * 4);
    return oneAt;
  };
  const at = (index: number): number => words[index] ?? 0;
  return {
    epollCreate: () => opened(result(create(EPOLL_CLOEXEC))),
    epollAdd: (epoll, fd, events, id) => result(control(epoll, EPOLL_CTL_ADD, fd, describe(fd, events, id))),
    epollModify: (epoll, fd, events, id) => result(control(epoll, EPOLL_CTL_MOD, fd, describe(fd, events, id))),
    epollRemove: (epoll, fd) => result(control(epoll, EPOLL_CTL_DEL, fd, oneAt)),
    epollWait: (epoll) => wait(epoll, manyAt, EVENTS_MAX, 0),
    eventsAt: (index) => at(index * layout.words),
    fdAt: (index) => at(index * layout.words + layout.fd),
    idAt: (index) => at(index * layout.words + layout.id),
  };
}

/**
 * Writes struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)): the family in the machine's byte order, the port in the
 * network's. Returns its length.
 */
function writeName(into: Buffer, { family, bytes: address }: IpAddress, port: number): number {
  into.fill(0);
  into.writeUInt16LE(family === 4 ? AF_INET : AF_INET6, sockaddr_in.sin_family);
  into.writeUInt16BE(port, sockaddr_in.sin_port);
  into.set(address, family === 4 ? sockaddr_in.sin_addr : sockaddr_in6.sin6_addr);
  return family === 4 ? sockaddr_in.bytes : sockaddr_in6.bytes;
}

function readName(name: Buffer): string {
  const { sin_family, sin_addr: at } = sockaddr_in;
  if (name.readUInt16LE(sin_family) === AF_INET) return `${name[at]}.${name[at + 1]}.${name[at + 2]}.${name[at + 3]}`;
  return formatIp(unmapIp({ family: 6, bytes: name.subarray(sockaddr_in6.sin6_addr, sockaddr_in6.sin6_addr + 16) }));
}
