import { getSystemErrorName } from "node:util";
import { formatIp, type IpAddress, unmapIp } from "#kernel/net/ip.ts";
import { type OnMissing, reasonOf, unknownPlatform } from "#kernel/process/native-transport.ts";
import { releaseFd, opened } from "#kernel/process/fd-registry.ts";
import { loadOpenSsl, type OpenSsl } from "#wire/native/openssl.ts";
import { PLACE_BYTES, type ReadPlace, readPlaces } from "#wire/connections/buffers/buffer-slots.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import type { End } from "#wire/connections/transport/transport.ts";
import { type Koffi, type Library, loadKoffi } from "#wire/native/koffi.ts";
import { EPOLL_EVENTS, LINUX, ofPlatform, STRUCTS } from "#wire/native/linux.ts";
import { createWakeUp, type WakeUp } from "#wire/native/wake-up.ts";

/** The system's calls for TCP, as they are. None of them waits. A result below zero is an error's number, negated. */
export interface SocketCalls {
  /** A socket of TCP. */
  open(family: 4 | 6): number;
  bind(fd: number, address: IpAddress, port: number): number;
  listen(fd: number, backlog: number): number;
  /** The next connection that came; `peer` tells whose it is until the next call. */
  accept(fd: number): number;
  peer(): End;
  connect(fd: number, address: IpAddress, port: number): number;
  localEnd(fd: number): End;
  set(fd: number, option: SocketOption, value: number): number;
  /** What a connection failed with, 0 where it did not. */
  pendingError(fd: number): number;
  /** Ends our side. */
  shutdown(fd: number): number;
  close(fd: number): void;
  /** Closing it will not send what waits, but a reset. */
  resetOnClose(fd: number): void;

  /** Reads to the thread's place for reads, `PLACE_BYTES` at most. */
  receive(fd: number, bytesMax: number): number;
  /** Memory of several threads from there on that this one may read to. */
  placeIn(memory: SharedArrayBuffer, offset: number): ReadPlace;
  /** A text of characters below 256 and at most `TEXT_BYTES_MAX` of them. `more`: something follows at once. */
  sendText(fd: number, text: string, more: boolean): number;
  /** The text, `bytes[start, end)`, no more than `PLACE_BYTES` of them, and the tail: it and the text have `TEXT_BYTES_MAX` at most. */
  sendTextAndBytes(fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number;
  send(fd: number, bytes: Uint8Array): number;
  /** Where sockets of a thread gather what they send. */
  readonly outbox: Buffer;
  /** Of `outbox`, from and to there. */
  sendGathered(fd: number, start: number, end: number): number;

  epollCreate(): number;
  /** `id` comes with the events. */
  epollAdd(epoll: number, fd: number, events: number, id: number): number;
  epollModify(epoll: number, fd: number, events: number, id: number): number;
  epollRemove(epoll: number, fd: number): number;
  /** How many events there are, up to `EVENTS_MAX`; they are good until the next call. */
  epollWait(epoll: number): number;
  eventsAt(index: number): number;
  fdAt(index: number): number;
  idAt(index: number): number;

  wakeUp: WakeUp;
  /** TLS on the same sockets; null where Node.js was built with another OpenSSL than we know. */
  readonly secure: SecureCalls | null;
}

/** With memory that all connections of a thread share. */
export interface SecureCalls {
  readonly openSsl: OpenSsl;
  /** What is sent is gathered here. */
  readonly buffer: Buffer;
  readonly at: number;
  /** Of `READ_BUFFER`. */
  readonly readAt: number;
  /** Of the outbox. */
  readonly outboxAt: number;
  /** What the socket has, before OpenSSL gets it: together with a record that it has read a part of, no more than `READ_BUFFER` holds. */
  readonly raw: Buffer;
  receive(fd: number): number;
}

export const { EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP, EPOLLET } = LINUX;
/** As the results of calls. */
export const EAGAIN = -LINUX.EAGAIN;
/** What is against TLS has this number here. */
export const EPROTO = -LINUX.EPROTO;
export const EINPROGRESS = -LINUX.EINPROGRESS;

/** The longest text that is sent at once. */
export const TEXT_BYTES_MAX = 32_768;
export const EVENTS_MAX = 256;
/** The read buffer, less the longest record of TLS (RFC 5246 §6.2.3). */
const RAW_BYTES = 48_000;
/** So many short reads of a turn, besides the first, are kept for late tasks. */
const SPARE_PLACES = 8;
/** A text and the longest read. */
const SEND_BYTES = TEXT_BYTES_MAX + PLACE_BYTES;
/** A hundred answers of a kilobyte. */
const OUTBOX_BYTES = 128 * 1024;

const { AF_INET, AF_INET6, SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC, SHUT_WR, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_MORE } = LINUX;
const { EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, SOL_SOCKET, SO_ERROR, SO_LINGER } = LINUX;
const { sockaddr_in, sockaddr_in6, linger } = STRUCTS;
const SEND_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL;
const SOCKET_ADDRESS_BYTES_MAX = sockaddr_in6.bytes;

/** Level and name of each. */
const OPTIONS = {
  reuseAddress: [SOL_SOCKET, LINUX.SO_REUSEADDR],
  sendBufferBytes: [SOL_SOCKET, LINUX.SO_SNDBUF],
  reusePort: [SOL_SOCKET, LINUX.SO_REUSEPORT],
  noDelay: [LINUX.IPPROTO_TCP, LINUX.TCP_NODELAY],
  onlyIpv6: [LINUX.IPPROTO_IPV6, LINUX.IPV6_V6ONLY],
} as const;
export type SocketOption = keyof typeof OPTIONS;

/** Null where koffi is not installed or does not load, or the system is not one whose values we know; `onMissing` is told which. */
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

/** The system's error of something that should listen, as Node.js has it. */
export function listenError(errno: number, address: string, port: number): NodeJS.ErrnoException {
  const code = errorCode(errno);
  return Object.assign(new Error(`listen ${code} ${address}:${port}`), { code, errno, syscall: "listen", address, port });
}

/** `ECONNRESET` and the like. */
export const errorCode = (errno: number): string => getSystemErrorName(errno);

/** What calls read and write by address. It must not be collected while this thread may call. */
const kept: (Uint8Array | SharedArrayBuffer)[] = [];

function memory(koffi: Koffi, length: number): readonly [Buffer, number] {
  const buffer = Buffer.allocUnsafeSlow(length).fill(0);
  kept.push(buffer);
  return [buffer, Number(koffi.address(buffer))];
}

/** The system gives its pages only as far as they are read to. */
function untouchedPlace(koffi: Koffi): ReadPlace {
  const buffer = Buffer.allocUnsafeSlow(PLACE_BYTES);
  kept.push(buffer);
  return { buffer, at: Number(koffi.address(buffer)) };
}

/** As memory that V8 does not take for shared: it would copy that word by word. */
function placeIn(koffi: Koffi, memory: SharedArrayBuffer, offset: number): ReadPlace {
  if (!kept.includes(memory)) kept.push(memory);
  const at = koffi.address(Buffer.from(memory, offset, PLACE_BYTES));
  return { buffer: Buffer.from(koffi.view(at, PLACE_BYTES)), at: Number(at) };
}

function secureCalls(koffi: Koffi, libc: Library, outboxAt: number, onMissing: OnMissing): SecureCalls | null {
  try {
    const recv = libc.func("intptr_t recv(int fd, uintptr_t bytes, size_t length, int flags)");
    const [buffer, at] = memory(koffi, SEND_BYTES);
    const [raw, rawAt] = memory(koffi, RAW_BYTES);
    return {
      ...{ openSsl: loadOpenSsl(koffi, { raw, at: rawAt }), buffer, at, readAt: readPlaces.addressOf(READ_BUFFER), outboxAt, raw },
      receive: (fd) => {
        const returned = recv(fd, rawAt, RAW_BYTES, MSG_DONTWAIT) as number;
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
      // On, for 0 seconds.
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
  const [place, placeAt] = memory(koffi, PLACE_BYTES);
  const spare = Array.from({ length: SPARE_PLACES }, () => untouchedPlace(koffi));
  readPlaces.begin({ buffer: place, at: placeAt }, spare, Number(koffi.address(READ_BUFFER)));
  const result = (returned: number): number => (returned < 0 ? -koffi.errno() : returned);
  return {
    receive: (fd, bytesMax) => result(recv(fd, readPlaces.forRead().at, bytesMax, MSG_DONTWAIT)),
    sendText: (fd, text, more) => {
      buffer.write(text, 0, "latin1");
      return result(sendAt(fd, bufferAt, text.length, more ? SEND_FLAGS | MSG_MORE : SEND_FLAGS));
    },
    sendTextAndBytes: (fd, text, bytes, start, end, tail) => {
      const at = text === "" && tail === "" ? readPlaces.addressOf(bytes) : 0;
      if (at > 0) return result(sendAt(fd, at + start, end - start, SEND_FLAGS));
      return result(sendAt(fd, bufferAt, gather(buffer, 0, text, bytes, start, end, tail), SEND_FLAGS));
    },
    sendGathered: (fd, start, end) => result(sendAt(fd, outboxAt + start, end - start, SEND_FLAGS)),
    send: (fd, piece) => result(sendBytes(fd, piece, piece.length, SEND_FLAGS)),
  };
}

/** Shorter texts cost more to hand over than to write: the size of a chunk, and the end of its line. */
const WRITTEN_CHARACTERS_MAX = 16;

/** Puts `text`, `bytes[start, end)` and `tail` into `into`, one behind the other; gives their length. */
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
  // Of the 8 bytes of data, 4 are the descriptor and 4 the number of the socket.
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

/** struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)): the family in the machine's order, the port in the network's. Returns its length. */
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
