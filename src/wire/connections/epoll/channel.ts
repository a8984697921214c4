import type { SocketCalls } from "./socket-calls.ts";
import { keepForPlain, readPlain } from "#wire/connections/buffers/pinned-buffers.ts";
import { readPlaces } from "#wire/connections/buffers/buffer-slots.ts";

/**
 * What a socket's bytes pass between our buffers and the kernel: nothing, or TLS. Results are those of `SocketCalls`; what was sent
 * counts as it was given. `fd` is the socket's own each time.
 */
export interface Channel {
  /** What the last `receive` has filled from its beginning. */
  readonly read: Buffer;
  /** Of the last `receive`: there may be more to read at once. */
  hasMore: boolean;
  /** The last `receive` has to send something before it can go on. */
  waitsForRoom: boolean;
  /** The last `sendQueue` met a kernel that takes no more. */
  isFull: boolean;
  /** Reads into `read`, `bytesMax` or, of TLS, as much as one call works on. */
  receive(fd: number, bytesMax: number): number;
  /** A text of at most `TEXT_BYTES_MAX`. `more`: something follows at once. */
  sendText(fd: number, text: string, more: boolean): number;
  /** The text, `bytes[start, end)` and the tail, with the bounds of `SocketCalls`. */
  sendTextAndBytes(fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number;
  send(fd: number, bytes: Buffer): number;
  /** From and to there in the thread's outbox. */
  sendGathered(fd: number, start: number, end: number): number;
  /** What waits, oldest first; there is something. */
  sendQueue(fd: number, queue: readonly Buffer[]): number;
  /** Tells the other side that nothing more comes, where it is not the kernel that tells. */
  sayEnd(): number;
  /** Gives back what it has; of no use any more. */
  free(): void;
}

/** Plain TCP; one for all sockets of a thread. */
export class PlainChannel implements Channel {
  hasMore = false;
  readonly waitsForRoom = false;
  isFull = false;
  private readonly calls: SocketCalls;

  constructor(calls: SocketCalls) {
    this.calls = calls;
  }

  get read(): Buffer {
    return readPlaces.current.buffer;
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
