import type { SocketCalls } from "./socket-calls.ts";
import { keepForPlain, readPlain } from "#wire/connections/buffers/pinned-buffers.ts";
import { bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";

/**
 * The layer between our buffers and the kernel: plain TCP, or TLS. Results are those of `SocketCalls`; sent bytes count
 * as the caller gave them, before encryption. `fd` is the descriptor of the channel's socket.
 */
export interface Channel {
  /** The last `receive` filled this buffer from its beginning. */
  readonly read: Buffer;
  /** After `receive`: more bytes may be ready at once. */
  hasMore: boolean;
  /** The last `receive` must send something before it can go on. */
  waitsForRoom: boolean;
  /** The kernel took no more in the last `sendQueue`. */
  isFull: boolean;
  /** Reads into `read` at most `bytesMax`. */
  receive(fd: number, bytesMax: number): number;
  /** Sends a text of at most `TEXT_BYTES_MAX`. `more`: further bytes follow at once. */
  sendText(fd: number, text: string, more: boolean): number;
  /** Sends the text, `bytes[start, end)` and the tail, with the bounds of `SocketCalls`. */
  sendTextAndBytes(fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number;
  send(fd: number, bytes: Buffer): number;
  /** Sends `[start, end)` of the thread's outbox. */
  sendGathered(fd: number, start: number, end: number): number;
  /** Sends waiting buffers, oldest first. The queue must not be empty. */
  sendQueue(fd: number, queue: readonly Buffer[]): number;
  /** Tells the other side that nothing more follows, if the protocol does this rather than the kernel. */
  sayEnd(): number;
  /** Releases its memory; the channel cannot be used afterwards. */
  free(): void;
}

/** Plain TCP. All sockets of a thread share one instance. */
export class PlainChannel implements Channel {
  hasMore = false;
  readonly waitsForRoom = false;
  isFull = false;
  private readonly calls: SocketCalls;

  constructor(calls: SocketCalls) {
    this.calls = calls;
  }

  get read(): Buffer {
    return bufferSlots.current.buffer;
  }

  receive(fd: number, bytesMax: number): number {
    keepForPlain(fd);
    const length = this.calls.receive(fd, bytesMax);
    readPlain(length);
    this.hasMore = length === bytesMax;
    return length;
  }

  sendText(fd: number, text: string, more: boolean): number {
    return this.calls.sendText(fd, text, more);
  }

  sendTextAndBytes(fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number {
    return this.calls.sendTextAndBytes(fd, text, bytes, start, end, tail);
  }

  send(fd: number, bytes: Buffer): number {
    return this.calls.send(fd, bytes);
  }

  sendGathered(fd: number, start: number, end: number): number {
    return this.calls.sendGathered(fd, start, end);
  }

  sendQueue(fd: number, queue: readonly Buffer[]): number {
    const first = queue[0] as Buffer;
    const sent = this.calls.send(fd, first);
    this.isFull = sent < first.length;
    return sent;
  }

  sayEnd(): number {
    return 0;
  }

  free(): void {}
}
