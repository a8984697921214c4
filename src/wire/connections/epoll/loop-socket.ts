import { Socket } from "node:net";
import { type IpAddress, parseIp } from "#kernel/net/ip.ts";
import { releaseFd } from "#kernel/process/fd-registry.ts";
import type { Channel } from "./channel.ts";
import type { SecureChannel } from "./secure-channel.ts";
import { SLOT_BYTES } from "#wire/connections/buffers/buffer-slots.ts";
import * as system from "./socket-calls.ts";
import { LoopSender, type SendingSocket } from "./loop-sender.ts";
import type { SocketLoop, Task, Watched } from "./socket-loop.ts";
import * as states from "./socket-states.ts";
import type { End, Transport, TransportHandler } from "#wire/connections/transport/transport.ts";

const { EAGAIN, EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP } = system;

/** Edge-triggered: each change is reported once, so a paused socket needs no system call. */
const READING = EPOLLIN | EPOLLRDHUP | system.EPOLLET;
const WRITING = READING | EPOLLOUT;
/** The other side has ended its half, or the connection is broken. */
const OVER = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
/** Full reads, and bytes of them, that one socket may take before other sockets have their turn. */
const READS_MAX = 4;
const TURN_BYTES = 256 * 1024;
/** Size of the first read, and of reads after a pause: small, because bytes that downstream does not accept must be stored. */
const READ_BYTES = 64 * 1024;

/** A TCP connection in the epoll loop. */
export class LoopSocket implements Transport, Watched, Task, SendingSocket {
  /** -1 once the socket is closed. */
  fd: number;
  id = 0;
  readonly tls = null;
  readonly peer: End;
  bytesRead = 0;
  private readonly loop: SocketLoop;
  private readonly calls: system.SocketCalls;
  channel: Channel;
  private readonly sender: LoopSender;
  private handler: TransportHandler = NOBODY;
  /** States of `socket-states.ts`. */
  private connection: number = states.NEW;
  private sending: number = states.STILL_SENDING;
  private receiving: number = states.EMPTY;
  /** The events that the loop is to report. */
  private interest = READING;
  /** The owner takes no bytes. */
  private isPaused = true;
  /** The loop reports nothing. */
  private isResting = false;
  /** Work waits until the kernel takes more. */
  private waitsForRoom = false;
  /** The loop calls `run` soon. */
  private isTask = false;
  /** Size of the next read, in bytes. */
  private readBytes = READ_BYTES;
  /** Code of the error that closed the connection. */
  private code = "";
  private early: Buffer | null = null;
  private onSent: (() => void) | null = null;
  private closers: (() => void)[] | null = null;

  constructor(loop: SocketLoop, fd: number, peer: End) {
    this.loop = loop;
    this.calls = loop.calls;
    this.channel = loop.plain;
    this.sender = new LoopSender(this, loop.outbox);
    this.fd = fd;
    this.peer = peer;
  }

  /** Starts an accepted socket. Returns false, and closes it, if the system does not let the loop watch it. */
  start(): boolean {
    this.move(states.ACCEPT);
    if (this.loop.add(this, READING) >= 0) return true;
    this.destroy();
    return false;
  }

  /** Begins to connect. A failure is reported later, as for every other connection. */
  connect(address: IpAddress, port: number): void {
    if (this.fd < 0) return this.close(system.errorCode(this.fd));
    this.move(states.DIAL);
    this.interest = WRITING;
    this.calls.set(this.fd, "noDelay", 1);
    const begun = this.calls.connect(this.fd, address, port);
    const result = begun < 0 && begun !== system.EINPROGRESS ? begun : this.loop.add(this, WRITING);
    if (result < 0) this.close(system.errorCode(result));
  }

  get isConnecting(): boolean {
    return this.connection === states.CONNECTING;
  }

  localEnd(): End {
    return this.calls.localEnd(this.fd);
  }

  /** Offers gathered bytes to the kernel first, so that the number is true. */
  get queuedBytes(): number {
    this.sender.sendGathered();
    return this.sender.waitingBytes;
  }

  get bytesTaken(): number {
    return this.sender.bytesTaken;
  }

  get needsDrain(): boolean {
    return this.sender.waitingBytes > 0;
  }

  get sendsReads(): boolean {
    return this.sender.isFree;
  }

  get idleSinceMs(): number | null | undefined {
    return this.handler.idleSinceMs;
  }

  attach(handler: TransportHandler): void {
    this.handler = handler;
    this.resume();
  }

  /** Begins TLS. The handler is called with `onSecured` after the handshake, and gets no bytes until it is attached again. */
  secure(channel: SecureChannel): void {
    this.move(states.SECURE);
    this.channel = channel;
    this.runLater();
  }

  pause(): void {
    this.isPaused = true;
    this.readBytes = READ_BYTES;
  }

  rest(): void {
    this.isPaused = true;
    if (this.isResting || this.waitsForRoom || this.isConnecting || this.fd < 0) return;
    this.isResting = true;
    this.loop.rest(this);
  }

  resume(): void {
    this.isPaused = false;
    if (this.receiving !== states.EMPTY || this.early !== null || this.isResting) this.runLater();
  }

  sendText(text: string): void {
    this.sender.sendText(text);
  }

  sendShared(text: string, buffer: Buffer, start: number, end: number): void {
    this.sender.sendShared(text, buffer, start, end);
  }

  sendKept(text: string, buffer: Buffer, start: number, end: number, tail = ""): void {
    this.sender.sendKept(text, buffer, start, end, tail);
  }

  whenSent(callback: () => void): void {
    this.onSent = callback;
  }

  end(): void {
    const { sender } = this;
    if (sender.isEnding || this.fd < 0) return;
    sender.sendGathered();
    sender.isEnding = true;
    this.moveSending(states.END);
    if (sender.waitingBytes === 0 && !this.isConnecting) this.finish();
  }

  destroySoon(): void {
    this.sender.sendGathered();
    if (this.fd < 0) return;
    this.moveSending(states.CLOSE);
    if (this.sender.waitingBytes === 0 && !this.isConnecting) this.finish();
  }

  destroy(): void {
    this.sender.sendGathered();
    if (this.fd >= 0) this.close("");
  }

  reset(): void {
    if (this.fd < 0) return;
    this.sender.sendGathered();
    this.calls.resetOnClose(this.fd);
    this.close("");
  }

  abandon(): void {
    this.destroy();
  }

  whenClosed(callback: () => void): void {
    (this.closers ??= []).push(callback);
  }

  unread(bytes: Buffer): void {
    this.isPaused = true;
    // few: bytes that arrived before a reader was attached, put back once or twice
    this.early = this.early === null ? bytes : Buffer.concat([bytes, this.early]);
  }

  intoSocket(): Socket {
    this.sender.sendGathered();
    const { fd, early, closers } = this;
    this.loop.remove(this);
    releaseFd(fd);
    this.move(states.GONE);
    this.fd = -1;
    this.handler = NOBODY;
    this.closers = null;
    const socket = new Socket({ fd, allowHalfOpen: true, readable: true, writable: true, manualStart: true } as object);
    for (const closer of closers ?? []) socket.on("close", closer);
    if (early !== null) socket.unshift(early);
    return socket;
  }

  onEvents(events: number): void {
    if ((events & OVER) !== 0) this.receive(states.LAST_ARRIVED);
    if (this.connection === states.SECURING) return this.handshake(this.channel as SecureChannel);
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) !== 0) {
      if (this.isConnecting) this.connected();
      else if (this.waitsForRoom) this.roomCame();
    }
    if ((events & (EPOLLIN | OVER)) === 0) return;
    this.receive(states.ARRIVED);
    if (!this.isPaused) this.read();
  }

  /** Runs the work that waited for its turn. */
  run(): void {
    this.isTask = false;
    if (this.fd < 0) return this.tellClosed();
    if (this.connection === states.SECURING) return this.handshake(this.channel as SecureChannel);
    if (this.isPaused) return;
    const { early } = this;
    if (early !== null) {
      this.early = null;
      this.handler.onBytes(early, early.length);
      if (this.isPaused || this.connection !== states.OPEN) return;
    }
    if (this.receiving !== states.EMPTY || this.isResting) this.read();
  }

  private readLater(): void {
    this.receive(states.ARRIVED);
    this.runLater();
  }

  private move(event: number): void {
    this.connection = states.nextConnection(this.connection, event);
  }

  private moveSending(event: number): void {
    this.sending = states.nextSending(this.sending, event);
  }

  private receive(event: number): void {
    this.receiving = states.nextReceiving(this.receiving, event);
  }

  private runLater(): void {
    if (this.isTask) return;
    this.isTask = true;
    this.loop.later(this);
  }

  private handshake(channel: SecureChannel): void {
    const result = channel.handshake(this.fd);
    if (result === EAGAIN) {
      if (channel.waitsForRoom) this.watchForRoom();
      else if (channel.hasMore || this.receiving === states.LAST) this.runLater();
      return;
    }
    if (result !== 1) return this.close(system.errorCode(system.EPROTO));
    this.move(states.SECURED);
    this.receive(states.ARRIVED);
    this.isPaused = true;
    const length = channel.receiveRest();
    if (length > 0) this.early = Buffer.from(channel.read.subarray(0, length));
    // Bytes that arrived with the end of the handshake are read now rather than in another tick.
    this.isTask = true;
    try {
      this.handler.onSecured?.();
    } finally {
      this.isTask = false;
      if (this.fd < 0) this.runLater();
    }
    if (this.fd >= 0) this.run();
  }

  private read(): void {
    const { channel } = this;
    const turnEnd = this.bytesRead + TURN_BYTES;
    for (let reads = 0; this.fd >= 0; reads++) {
      if (reads === READS_MAX || this.bytesRead >= turnEnd) return this.runLater();
      const length = channel.receive(this.fd, this.readBytes);
      if (length <= 0) return this.readNothing(length);
      this.bytesRead += length;
      // Each read has a fixed cost, so a socket with much to read gets longer reads.
      if (channel.hasMore) this.readBytes = Math.min(this.readBytes * 2, SLOT_BYTES);
      // The socket is empty, and an event reports the next bytes. No further event follows a reported end.
      if (!channel.hasMore) this.receive(states.DRAINED);
      this.handler.onBytes(channel.read, length);
      // If TLS has begun, the bytes that follow are no longer plain.
      if (this.receiving === states.EMPTY || this.isPaused || this.channel !== channel) break;
    }
    if (this.isResting && !this.isPaused) this.watch();
  }

  /** Ends a rest: events that came meanwhile are reported at once. */
  private watch(): void {
    if (this.fd < 0) return;
    this.isResting = false;
    const result = this.loop.wake(this, this.interest);
    if (result < 0) this.close(system.errorCode(result));
  }

  private readNothing(result: number): void {
    if (result === EAGAIN) {
      this.receive(states.DRAINED);
      if (this.isResting) this.watch();
      if (this.channel.waitsForRoom) this.watchForRoom();
      else if (this.channel.hasMore) this.readLater();
      return;
    }
    if (result < 0 || this.code !== "") return this.close(this.code === "" ? system.errorCode(result) : this.code);
    if (this.receiving === states.RECEIVING_ENDED) return;
    this.receive(states.END_ARRIVED);
    this.handler.onEnd();
    if (this.sending === states.SENDING_ENDED) this.destroy();
  }

  private connected(): void {
    const error = this.calls.pendingError(this.fd);
    if (error !== 0) return this.close(system.errorCode(error));
    this.move(states.CONNECTED);
    this.handler.onConnected?.();
    if (this.sender.waitingBytes > 0) this.flush();
    else this.sent();
  }

  watchForRoom(): void {
    this.waitsForRoom = true;
    const before = this.interest;
    this.interest = WRITING;
    if (this.isResting) this.watch();
    else if (before !== WRITING) this.loop.change(this, WRITING);
  }

  private roomCame(): void {
    this.waitsForRoom = false;
    if (this.sender.waitingBytes > 0) this.flush();
    else this.finish();
    // A read has to send something before it can go on.
    if (this.channel.waitsForRoom && this.fd >= 0) {
      this.receive(states.ARRIVED);
      if (!this.isPaused) this.read();
    }
  }

  /** Sends the waiting bytes once the kernel has room. */
  private flush(): void {
    if (!this.sender.flush()) {
      this.waitsForRoom = true;
      return;
    }
    this.sent();
    if (!this.sender.isEnding && this.fd >= 0) this.handler.onDrain();
  }

  private sent(): void {
    this.onSent?.();
    this.onSent = null;
    this.finish();
  }

  /** Everything is sent: ends our side or the connection, if that was to follow. */
  private finish(): void {
    const { sending } = this;
    if (this.fd < 0 || (sending !== states.ENDING && sending !== states.CLOSING)) return;
    // Over TLS the end is bytes as well, for which the kernel may lack room; this is called again then.
    if (this.channel.sayEnd() === EAGAIN) return this.watchForRoom();
    if (sending === states.CLOSING) return this.destroy();
    this.moveSending(states.ENDED);
    this.calls.shutdown(this.fd);
    if (this.receiving === states.RECEIVING_ENDED) this.destroy();
  }

  /** Sending has failed; bytes that the other side sent before it left may still be read. */
  broken(result: number): void {
    if (this.code !== "" || this.fd < 0) return;
    if (this.isPaused) return this.close(system.errorCode(result));
    this.code = system.errorCode(result);
    this.sender.drop();
    this.receive(states.LAST_ARRIVED);
    this.runLater();
  }

  private close(code: string): void {
    if (this.fd >= 0) {
      this.loop.forget(this);
      this.channel.free();
      this.calls.close(this.fd);
    }
    this.move(states.GONE);
    this.fd = -1;
    this.code = code;
    this.sender.drop();
    this.early = null;
    this.runLater();
  }

  private tellClosed(): void {
    const { handler, closers } = this;
    this.handler = NOBODY;
    this.closers = null;
    try {
      handler.onClosed(this.code);
    } finally {
      const { onSent } = this;
      this.onSent = null;
      onSent?.();
      for (const closer of closers ?? []) closer();
    }
  }
}

/** Dials an IPv4 or IPv6 address. Returns undefined if the text is neither. */
export function dialThroughLoop(loop: SocketLoop, address: string, port: number): Transport | undefined {
  const ip = parseIp(address);
  if (ip === undefined) return undefined;
  const socket = new LoopSocket(loop, loop.calls.open(ip.family), { address, port });
  socket.connect(ip, port);
  return socket;
}

const NOBODY: TransportHandler = { onBytes: () => undefined, onDrain: () => undefined, onEnd: () => undefined, onClosed: () => undefined };
