import type { Channel } from "./channel.ts";
import type { SendQueue, Sender } from "./send-queue.ts";
import { bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";
import { EAGAIN, TEXT_BYTES_MAX } from "./socket-calls.ts";

/** The socket of a sender, as the sender sees it. */
export interface SendingSocket {
  /** -1 once the socket is closed. */
  readonly fd: number;
  readonly channel: Channel;
  readonly isConnecting: boolean;
  /** Something waits until the kernel takes more. */
  watchForRoom(): void;
  /** Sending failed: nothing more can be sent. */
  broken(result: number): void;
}

/** Up to this size, copying the bytes behind the text costs less than a separate call. */
const COPIED_BYTES_MAX = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Sends the bytes of one socket of the epoll loop: at once, together with other sockets at the end of a tick of the event
 * loop, or when the kernel has room.
 */
export class LoopSender implements Sender {
  /** Bytes that the kernel has taken. */
  bytesTaken = 0;
  /** Bytes that wait for the kernel. */
  waitingBytes = 0;
  /** Nothing follows the bytes that wait. */
  isEnding = false;
  private readonly socket: SendingSocket;
  private readonly outbox: SendQueue;
  private isGone = false;
  /** The part of the loop's outbox that leaves at the end of the tick; 0 and 0 if nothing waits there. */
  private gatheredStart = 0;
  private gatheredEnd = 0;
  /** Buffers that the kernel did not take, oldest first. */
  private queue: Buffer[] | null = null;

  constructor(socket: SendingSocket, outbox: SendQueue) {
    this.socket = socket;
    this.outbox = outbox;
  }

  /** True if the kernel would get the next bytes at once. */
  get isFree(): boolean {
    return this.waitingBytes === 0 && !this.socket.isConnecting && !this.isEnding && this.socket.fd >= 0;
  }

  sendText(text: string): void {
    if (this.gathers(text, NOTHING, 0, 0)) return;
    if (text.length > TEXT_BYTES_MAX) return this.sendBytes(Buffer.from(text, "latin1"));
    const sent = this.isFree ? this.taken(this.socket.channel.sendText(this.socket.fd, text, false)) : 0;
    if (sent < text.length) this.enqueue(Buffer.from(text.slice(sent), "latin1"));
  }

  sendShared(text: string, buffer: Buffer, start: number, end: number): void {
    if (this.gathers(text, buffer, start, end)) return;
    if (bufferSlots.addressOf(buffer) === 0 || text.length > TEXT_BYTES_MAX || !this.isFree) {
      return this.sendKept(text, Buffer.from(buffer.subarray(start, end)), 0, end - start);
    }
    const sentOfRead = this.sendAll(text, buffer, start, end, "");
    if (sentOfRead < end - start) this.enqueue(Buffer.from(buffer.subarray(start + sentOfRead, end)));
  }

  sendKept(text: string, buffer: Buffer, start: number, end: number, tail = ""): void {
    if (this.gathers(text, buffer, start, end, tail)) return;
    const around = text.length + tail.length;
    if (around > 0 && around <= TEXT_BYTES_MAX && end - start <= COPIED_BYTES_MAX && this.isFree) {
      const sent = this.sendAll(text, buffer, start, end, tail);
      if (sent < end - start) this.enqueue(buffer.subarray(start + sent, end));
      const sentOfTail = Math.max(0, sent - (end - start));
      if (sentOfTail < tail.length) this.enqueue(Buffer.from(tail.slice(sentOfTail), "latin1"));
      return;
    }
    if (text.length > TEXT_BYTES_MAX) this.sendText(text);
    else if (text !== "") {
      const sent = this.isFree ? this.taken(this.socket.channel.sendText(this.socket.fd, text, true)) : 0;
      if (sent < text.length) this.enqueue(Buffer.from(text.slice(sent), "latin1"));
    }
    this.sendBytes(buffer.subarray(start, end));
    if (tail !== "") this.sendText(tail);
  }

  /** Offers the gathered bytes to the kernel. */
  sendGathered(): void {
    const { gatheredStart: start, gatheredEnd: end } = this;
    if (start === end) return;
    this.gatheredStart = this.gatheredEnd = 0;
    if (this.socket.fd < 0) return;
    const sent = this.taken(this.socket.channel.sendGathered(this.socket.fd, start, end));
    if (sent < end - start) this.enqueue(Buffer.from(this.outbox.buffer.subarray(start + sent, end)));
  }

  /** Sends waiting bytes once the kernel accepts more. Returns true when all bytes are sent. */
  flush(): boolean {
    const { queue } = this;
    const { channel, fd } = this.socket;
    while (queue !== null && this.waitingBytes > 0) {
      this.dropSent(queue, this.taken(channel.sendQueue(fd, queue)));
      if (channel.isFull) return false;
    }
    return true;
  }

  /** Drops the waiting bytes and takes no more. */
  drop(): void {
    this.isGone = true;
    this.queue = null;
    this.waitingBytes = 0;
    this.gatheredStart = this.gatheredEnd = 0;
  }

  /**
   * Gathers the bytes for the end of the tick. Returns false if they must go out at once; the bytes gathered before are
   * sent by then.
   */
  private gathers(text: string, buffer: Buffer, start: number, end: number, tail = ""): boolean {
    const { outbox } = this;
    const length = text.length + end - start + tail.length;
    if (!outbox.isOpen || length > COPIED_BYTES_MAX || !outbox.makesRoom(length) || !this.isFree) {
      this.sendGathered();
      return false;
    }
    if (this.gatheredEnd !== outbox.length) {
      // Other sockets have put bytes behind ours, so ours cannot grow.
      this.sendGathered();
      if (!this.isFree) return false;
    }
    if (this.gatheredStart === this.gatheredEnd) {
      this.gatheredStart = outbox.length;
      outbox.enlist(this);
    }
    outbox.put(text, buffer, start, end, tail);
    this.gatheredEnd = outbox.length;
    return true;
  }

  /** Number of bytes that the kernel took. */
  private taken(result: number): number {
    if (result < 0) {
      if (result !== EAGAIN) this.socket.broken(result);
      return 0;
    }
    this.bytesTaken += result;
    return result;
  }

  /** Sends all three. Returns how many bytes of `bytes` and the tail the kernel took; the rest of the text waits in the queue. */
  private sendAll(text: string, bytes: Buffer, start: number, end: number, tail: string): number {
    const sent = this.taken(this.socket.channel.sendTextAndBytes(this.socket.fd, text, bytes, start, end, tail));
    if (sent < text.length) this.enqueue(Buffer.from(text.slice(sent), "latin1"));
    return Math.max(0, sent - text.length);
  }

  private sendBytes(bytes: Buffer): void {
    const sent = this.isFree ? this.taken(this.socket.channel.send(this.socket.fd, bytes)) : 0;
    if (sent < bytes.length) this.enqueue(bytes.subarray(sent));
  }

  private enqueue(bytes: Buffer): void {
    // The other side is gone; the owner learns of that elsewhere.
    if (this.isEnding || this.isGone || this.socket.fd < 0) return;
    (this.queue ??= []).push(bytes);
    this.waitingBytes += bytes.length;
    this.socket.watchForRoom();
  }

  private dropSent(queue: Buffer[], sent: number): void {
    // A failure during sending has dropped the queue.
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
}
