import { Socket } from "node:net";
import { type IpAddress, parseIp } from "#kernel/ip.ts";
import { letGo } from "#kernel/own-descriptors.ts";
import type { Channel } from "./channel.ts";
import type { SecureChannel } from "./secure-channel.ts";
import { READ_BUFFER } from "./shared-reads.ts";
import * as system from "./socket-calls.ts";
import type { Sender } from "./outbox.ts";
import type { SocketLoop, Task, Watched } from "./socket-loop.ts";
import type { End, Transport, TransportHandler } from "./transport.ts";

const { EAGAIN, EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP, TEXT_BYTES_MAX } = system;

/** Changes are told once each: a socket that is not read needs no call to say so. */
const READING = EPOLLIN | EPOLLRDHUP | system.EPOLLET;
const WRITING = READING | EPOLLOUT;
/** The other side has ended its own, or the connection is broken. */
const OVER = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
/** Up to here a copy behind a text costs less than a call of its own. */
const COPIED_BYTES_MAX = 16 * 1024;
/** Whole buffers that one socket may fill before others have their turn. */
const READS_MAX = 4;

/** A connection of TCP in our own loop. */
export class LoopSocket implements Transport, Watched, Task, Sender {
  /** -1 once it is closed. */
  fd: number;
  id = 0;
  readonly tls = null;
  readonly peerAddress: string;
  bytesRead = 0;
  bytesTaken = 0;
  private waitingBytes = 0;
  private readonly loop: SocketLoop;
  private readonly calls: system.SocketCalls;
  private channel: Channel;
  /** TLS whose handshake is under way: until it is over nothing is read or sent. */
  private shaking: SecureChannel | null = null;
  private handler: TransportHandler = NOBODY;
  private isConnecting = false;
  private isPaused = true;
  /** There may be something to read, or the end. */
  private isReadable = false;
  /** After what is left to read comes the end. */
  private isOver = false;
  private hasEnd = false;
  private isEnding = false;
  private hasEnded = false;
  private closesWhenSent = false;
  /** False: no event tells of anything. */
  private isWatched = true;
  private isWatchedForRoom = false;
  /** Something is to be done once the kernel takes more. */
  private waitsForRoom = false;
  /** Of which telling the other side the end is left. */
  private isEndDue = false;
  private isTask = false;
  /** Of the error that it is closed for. */
  private code = "";
  /** Where in the loop's outbox is what it sends at the end of the turn; 0 and 0 where there is nothing. */
  private gatheredStart = 0;
  private gatheredEnd = 0;
  /** What the kernel did not take, oldest first. */
  private queue: Buffer[] | null = null;
  private early: Buffer | null = null;
  private onSent: (() => void) | null = null;
  private closers: (() => void)[] | null = null;

  constructor(loop: SocketLoop, fd: number, peerAddress: string) {
    this.loop = loop;
    this.calls = loop.calls;
    this.channel = loop.plain;
    this.fd = fd;
    this.peerAddress = peerAddress;
  }

  /** One that was accepted: false, and closed, where the system does not let the loop watch it. */
  start(): boolean {
    if (this.loop.add(this, READING) >= 0) return true;
    this.destroy();
    return false;
  }

  /** What stands against it is told later, as of every other connection. */
  connect(address: IpAddress, port: number): void {
    if (this.fd < 0) return this.close(system.errorCode(this.fd));
    this.isConnecting = this.isWatchedForRoom = true;
    this.calls.set(this.fd, "noDelay", 1);
    const begun = this.calls.connect(this.fd, address, port);
    const result = begun < 0 && begun !== system.EINPROGRESS ? begun : this.loop.add(this, WRITING);
    if (result < 0) this.close(system.errorCode(result));
  }

  localEnd(): End {
    return this.calls.localEnd(this.fd);
  }

  /** What was gathered is offered to the kernel first. */
  get queuedBytes(): number {
    this.sendGathered();
    return this.waitingBytes;
  }

  get needsDrain(): boolean {
    return this.waitingBytes > 0;
  }

  get sendsReads(): boolean {
    return this.waitingBytes === 0 && !this.isConnecting && !this.isEnding && this.fd >= 0;
  }

  attach(handler: TransportHandler): void {
    this.handler = handler;
    this.resume();
  }

  /** TLS from now on: the handler hears `onSecured` after the handshake, and gets nothing before it is attached again. */
  secure(channel: SecureChannel): void {
    this.channel = this.shaking = channel;
    this.runLater();
  }

  pause(): void {
    this.isPaused = true;
  }

  rest(): void {
    this.isPaused = true;
    if (!this.isWatched || this.waitsForRoom || this.isConnecting || this.fd < 0) return;
    this.isWatched = false;
    this.loop.rest(this);
  }

  resume(): void {
    this.isPaused = false;
    if (this.isReadable || this.early !== null || !this.isWatched) this.runLater();
  }

  sendText(text: string): void {
    if (this.gathers(text, NOTHING, 0, 0)) return;
    if (text.length > TEXT_BYTES_MAX) return this.sendBytes(Buffer.from(text, "latin1"));
    const sent = this.sendsReads ? this.taken(this.channel.sendText(this.fd, text, false)) : 0;
    if (sent < text.length) this.enqueue(Buffer.from(text.slice(sent), "latin1"));
  }

  sendShared(text: string, buffer: Buffer, start: number, end: number): void {
    if (this.gathers(text, buffer, start, end)) return;
    if (buffer !== READ_BUFFER || text.length > TEXT_BYTES_MAX || !this.sendsReads) {
      return this.sendKept(text, Buffer.from(buffer.subarray(start, end)), 0, end - start);
    }
    const sentOfRead = this.sendAll(text, buffer, start, end, "");
    if (sentOfRead < end - start) this.enqueue(Buffer.from(buffer.subarray(start + sentOfRead, end)));
  }

  sendKept(text: string, buffer: Buffer, start: number, end: number, tail = ""): void {
    if (this.gathers(text, buffer, start, end, tail)) return;
    const around = text.length + tail.length;
    if (around > 0 && around <= TEXT_BYTES_MAX && end - start <= COPIED_BYTES_MAX && this.sendsReads) {
      const sent = this.sendAll(text, buffer, start, end, tail);
      if (sent < end - start) this.enqueue(buffer.subarray(start + sent, end));
      const sentOfTail = Math.max(0, sent - (end - start));
      if (sentOfTail < tail.length) this.enqueue(Buffer.from(tail.slice(sentOfTail), "latin1"));
      return;
    }
    if (text.length > TEXT_BYTES_MAX) this.sendText(text);
    else if (text !== "") {
      const sent = this.sendsReads ? this.taken(this.channel.sendText(this.fd, text, true)) : 0;
      if (sent < text.length) this.enqueue(Buffer.from(text.slice(sent), "latin1"));
    }
    this.sendBytes(buffer.subarray(start, end));
    if (tail !== "") this.sendText(tail);
  }

  whenSent(callback: () => void): void {
    this.onSent = callback;
  }

  end(): void {
    if (this.isEnding || this.fd < 0) return;
    this.sendGathered();
    this.isEnding = true;
    if (this.waitingBytes === 0 && !this.isConnecting) this.endNow();
  }

  destroySoon(): void {
    this.sendGathered();
    this.closesWhenSent = true;
    if (this.waitingBytes === 0 && !this.isConnecting && this.fd >= 0) this.closeInOrder();
  }

  destroy(): void {
    this.sendGathered();
    if (this.fd >= 0) this.close("");
  }

  reset(): void {
    if (this.fd < 0) return;
    this.sendGathered();
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
    this.early = this.early === null ? bytes : Buffer.concat([bytes, this.early]);
  }

  intoSocket(): Socket {
    this.sendGathered();
    const { fd, early, closers } = this;
    this.loop.remove(this);
    letGo(fd);
    this.fd = -1;
    this.handler = NOBODY;
    this.closers = null;
    const socket = new Socket({ fd, allowHalfOpen: true, readable: true, writable: true, manualStart: true } as object);
    for (const closer of closers ?? []) socket.on("close", closer);
    if (early !== null) socket.unshift(early);
    return socket;
  }

  /** Offers what was gathered to the kernel. */
  sendGathered(): void {
    const { gatheredStart: start, gatheredEnd: end } = this;
    if (start === end) return;
    this.gatheredStart = this.gatheredEnd = 0;
    if (this.fd < 0) return;
    const sent = this.taken(this.channel.sendGathered(this.fd, start, end));
    if (sent < end - start) this.enqueue(Buffer.from(this.calls.outbox.subarray(start + sent, end)));
  }

  /** Takes it for the end of the turn; false where it is to be sent at once, and what was taken before is sent. */
  private gathers(text: string, buffer: Buffer, start: number, end: number, tail = ""): boolean {
    const { outbox } = this.loop;
    const length = text.length + end - start + tail.length;
    if (!outbox.isOpen || length > COPIED_BYTES_MAX || !outbox.makesRoom(length) || !this.sendsReads) {
      this.sendGathered();
      return false;
    }
    if (this.gatheredEnd !== outbox.length) {
      // Others have put theirs behind it.
      this.sendGathered();
      if (!this.sendsReads) return false;
    }
    if (this.gatheredStart === this.gatheredEnd) {
      this.gatheredStart = outbox.length;
      outbox.enlist(this);
    }
    outbox.put(text, buffer, start, end, tail);
    this.gatheredEnd = outbox.length;
    return true;
  }

  onEvents(events: number): void {
    if ((events & OVER) !== 0) this.isOver = true;
    if (this.shaking !== null) return this.handshake(this.shaking);
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) !== 0) {
      if (this.isConnecting) this.connected();
      else if (this.waitsForRoom) this.roomCame();
    }
    if ((events & (EPOLLIN | OVER)) === 0) return;
    this.isReadable = true;
    if (!this.isPaused) this.read();
  }

  /** What waited for its turn. */
  run(): void {
    this.isTask = false;
    if (this.fd < 0) return this.tellClosed();
    if (this.shaking !== null) return this.handshake(this.shaking);
    if (this.isPaused) return;
    const { early } = this;
    if (early !== null) {
      this.early = null;
      this.handler.onBytes(early, early.length);
      if (this.isPaused || this.shaking !== null) return;
    }
    if (this.isReadable || !this.isWatched) this.read();
  }

  private readLater(): void {
    this.isReadable = true;
    this.runLater();
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
      else if (channel.hasMore || this.isOver) this.runLater();
      return;
    }
    if (result !== 1) return this.close(system.errorCode(system.EPROTO));
    this.shaking = null;
    this.isPaused = this.isReadable = true;
    const length = channel.receiveRest();
    if (length > 0) this.early = Buffer.from(READ_BUFFER.subarray(0, length));
    // What came along with the end of the handshake is read at once, and not in a turn of its own.
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
    for (let reads = 0; this.fd >= 0; reads++) {
      if (reads === READS_MAX) return this.runLater();
      const length = channel.receive(this.fd);
      if (length <= 0) return this.readNothing(length);
      this.bytesRead += length;
      // That was all; what comes after it is told by an event. Of an end that has been told none comes any more.
      if (!channel.hasMore && !this.isOver) this.isReadable = false;
      this.handler.onBytes(READ_BUFFER, length);
      // What follows is no longer plain where TLS has begun.
      if (!this.isReadable || this.isPaused || this.channel !== channel) break;
    }
    if (!this.isWatched && !this.isPaused) this.watch();
  }

  /** After a rest: what came meanwhile is told at once. */
  private watch(): void {
    if (this.fd < 0) return;
    this.isWatched = true;
    const result = this.loop.wake(this, this.isWatchedForRoom ? WRITING : READING);
    if (result < 0) this.close(system.errorCode(result));
  }

  private readNothing(result: number): void {
    this.isReadable = false;
    if (result === EAGAIN) {
      if (!this.isWatched) this.watch();
      if (this.channel.waitsForRoom) this.watchForRoom();
      else if (this.channel.hasMore) this.readLater();
      return;
    }
    if (result < 0 || this.code !== "") return this.close(this.code === "" ? system.errorCode(result) : this.code);
    if (this.hasEnd) return;
    this.hasEnd = true;
    this.handler.onEnd();
    if (this.hasEnded) this.destroy();
  }

  private connected(): void {
    const error = this.calls.pendingError(this.fd);
    if (error !== 0) return this.close(system.errorCode(error));
    this.isConnecting = false;
    this.handler.onConnected?.();
    if (this.waitingBytes > 0) this.flush();
    else this.sent();
  }

  /** How much the kernel took. */
  private taken(result: number): number {
    if (result < 0) {
      if (result !== EAGAIN) this.broken(result);
      return 0;
    }
    this.bytesTaken += result;
    return result;
  }

  /** Gives how many of the bytes and the tail the kernel took; of the text, what it did not take waits. */
  private sendAll(text: string, bytes: Buffer, start: number, end: number, tail: string): number {
    const sent = this.taken(this.channel.sendTextAndBytes(this.fd, text, bytes, start, end, tail));
    if (sent < text.length) this.enqueue(Buffer.from(text.slice(sent), "latin1"));
    return Math.max(0, sent - text.length);
  }

  private sendBytes(bytes: Buffer): void {
    const sent = this.sendsReads ? this.taken(this.channel.send(this.fd, bytes)) : 0;
    if (sent < bytes.length) this.enqueue(bytes.subarray(sent));
  }

  private enqueue(bytes: Buffer): void {
    // Nothing goes to a side that is gone; its owner hears of it.
    if (this.isEnding || this.fd < 0 || this.code !== "") return;
    (this.queue ??= []).push(bytes);
    this.waitingBytes += bytes.length;
    this.watchForRoom();
  }

  private watchForRoom(): void {
    this.waitsForRoom = true;
    const isWatched = this.isWatchedForRoom;
    this.isWatchedForRoom = true;
    if (!this.isWatched) this.watch();
    else if (!isWatched) this.loop.change(this, WRITING);
  }

  private roomCame(): void {
    this.waitsForRoom = false;
    if (this.waitingBytes > 0) this.flush();
    else if (this.isEndDue) this.sent();
    // A read that has to send something first.
    if (this.channel.waitsForRoom && this.fd >= 0) {
      this.isReadable = true;
      if (!this.isPaused) this.read();
    }
  }

  /** Once there is room again. */
  private flush(): void {
    const { queue } = this;
    while (queue !== null && this.waitingBytes > 0) {
      this.dropSent(queue, this.taken(this.channel.sendQueue(this.fd, queue)));
      if (this.channel.isFull) {
        this.waitsForRoom = true;
        return;
      }
    }
    this.sent();
    if (!this.isEnding && this.fd >= 0) this.handler.onDrain();
  }

  private dropSent(queue: Buffer[], sent: number): void {
    // All of it is gone where sending failed.
    if (this.queue === null) return;
    this.waitingBytes -= sent;
    let left = sent;
    while (left > 0) {
      const first = queue[0] as Buffer;
      if (left < first.length) {
        queue[0] = first.subarray(left);
        return;
      }
      left -= first.length;
      queue.shift();
    }
  }

  private sent(): void {
    this.onSent?.();
    this.onSent = null;
    if (this.closesWhenSent) this.closeInOrder();
    else if (this.isEnding) this.endNow();
  }

  private closeInOrder(): void {
    if (this.hasSaidEnd()) this.destroy();
  }

  private endNow(): void {
    if (!this.hasSaidEnd()) return;
    this.hasEnded = true;
    this.calls.shutdown(this.fd);
    if (this.hasEnd) this.destroy();
  }

  /** False while the kernel has no room for it. */
  private hasSaidEnd(): boolean {
    if (this.fd < 0) return false;
    this.isEndDue = this.channel.sayEnd() === EAGAIN;
    if (this.isEndDue) this.watchForRoom();
    return !this.isEndDue;
  }

  /** Nothing can be sent any more; what the other side said before it left may still be of use. */
  private broken(result: number): void {
    if (this.code !== "" || this.fd < 0) return;
    if (this.isPaused) return this.close(system.errorCode(result));
    this.code = system.errorCode(result);
    this.queue = null;
    this.waitingBytes = 0;
    this.isOver = this.isReadable = true;
    this.runLater();
  }

  private close(code: string): void {
    if (this.fd >= 0) {
      this.loop.forget(this);
      this.channel.free();
      this.calls.close(this.fd);
    }
    this.fd = -1;
    this.shaking = null;
    this.code = code;
    this.queue = this.early = null;
    this.waitingBytes = 0;
    this.gatheredStart = this.gatheredEnd = 0;
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

/** Undefined where the text is no address of IPv4 or IPv6. */
export function dialThroughLoop(loop: SocketLoop, address: string, port: number): Transport | undefined {
  const ip = parseIp(address);
  if (ip === undefined) return undefined;
  const socket = new LoopSocket(loop, loop.calls.open(ip.family), address);
  socket.connect(ip, port);
  return socket;
}

const NOTHING = Buffer.alloc(0);
const NOBODY: TransportHandler = { onBytes: () => undefined, onDrain: () => undefined, onEnd: () => undefined, onClosed: () => undefined };
