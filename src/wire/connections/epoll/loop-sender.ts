import type { Channel } from "./channel.ts";
import type { SendQueue, Sender } from "./send-queue.ts";
import { readPlaces } from "#wire/connections/buffers/buffer-slots.ts";
import { EAGAIN, TEXT_BYTES_MAX } from "./socket-calls.ts";

/** What a sender needs of its socket. */
export interface SendingSocket {
  /** -1 once it is closed. */
  readonly fd: number;
  readonly channel: Channel;
  readonly isConnecting: boolean;
  /** Something waits until the kernel takes more. */
  watchForRoom(): void;
  /** Sending failed: nothing can be sent any more. */
  broken(result: number): void;
}

/** Up to here a copy behind a text costs less than a call of its own. */
const COPIED_BYTES_MAX = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/** What a socket of our own loop sends: at once, at the end of the turn together with what others send, or when the kernel has room. */
export class LoopSender implements Sender {
  /** Those that the kernel has taken. */
  bytesTaken = 0;
  /** Those that it has not. */
  waitingBytes = 0;
  /** What waits is the last. */
  isEnding = false;
  private readonly socket: SendingSocket;
  private readonly outbox: SendQueue;
  private isGone = false;
  /** Where in the loop's outbox is what goes out at the end of the turn; 0 and 0 where there is nothing. */
  private gatheredStart = 0;
  private gatheredEnd = 0;
  /** What the kernel did not take, oldest first. */
  private queue: Buffer[] | null = null;

  constructor(socket: SendingSocket, outbox: SendQueue) {
    this.socket = socket;
    this.outbox = outbox;
  }

  /** The kernel would get what is sent next at once. */
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
    if (readPlaces.addressOf(buffer) === 0 || text.length > TEXT_BYTES_MAX || !this.isFree) {
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

  /** Offers what was gathered to the kernel. */
  sendGathered(): void {
    const { gatheredStart: start, gatheredEnd: end } = this;
    if (start === end) return;
    this.gatheredStart = this.gatheredEnd = 0;
    if (this.socket.fd < 0) return;
    const sent = this.taken(this.socket.channel.sendGathered(this.socket.fd, start, end));
    if (sent < end - start) this.enqueue(Buffer.from(this.outbox.buffer.subarray(start + sent, end)));
  }

  /** Once there is room again: true when nothing waits any more. */
  flush(): boolean {
    const { queue } = this;
    const { channel, fd } = this.socket;
    while (queue !== null && this.waitingBytes > 0) {
      this.dropSent(queue, this.taken(channel.sendQueue(fd, queue)));
      if (channel.isFull) return false;
    }
    return true;
  }

  /** Nothing that waits is sent, and nothing more is taken. */
  drop(): void {
    this.isGone = true;
    this.queue = null;
    this.waitingBytes = 0;
    this.gatheredStart = this.gatheredEnd = 0;
  }

  /** Takes it for the end of the turn; false where it is to be sent at once, and what was taken before is sent. */
  private gathers(text: string, buffer: Buffer, start: number, end: number, tail = ""): boolean {
    const { outbox } = this;
    const length = text.length + end - start + tail.length;
    if (!outbox.isOpen || length > COPIED_BYTES_MAX || !outbox.makesRoom(length) || !this.isFree) {
      this.sendGathered();
      return false;
    }
    if (this.gatheredEnd !== outbox.length) {
      // Others have put theirs behind it.
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

  /** How much the kernel took. */
  private taken(result: number): number {
    if (result < 0) {
      if (result !== EAGAIN) this.socket.broken(result);
      return 0;
    }
    this.bytesTaken += result;
    return result;
  }

  /** Gives how many of the bytes and the tail the kernel took; of the text, what it did not take waits. */
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
    // Nothing goes to a side that is gone; its owner hears of it.
    if (this.isEnding || this.isGone || this.socket.fd < 0) return;
    (this.queue ??= []).push(bytes);
    this.waitingBytes += bytes.length;
    this.socket.watchForRoom();
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
}
