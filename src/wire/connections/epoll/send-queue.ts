import { gather, type SocketCalls } from "./socket-calls.ts";

/** A socket with bytes in an outbox. */
export interface Sender {
  /** Sends its bytes in the outbox, if any are left. */
  sendGathered(): void;
}

/**
 * Bytes that the sockets of a loop send in one tick, one behind the other in memory of the thread, until all of them
 * leave together. A program on this machine that the first bytes wake up finds the rest as well, instead of being woken
 * up for each (ADR 0028).
 */
export class SendQueue {
  /** True during a tick. */
  isOpen = false;
  /** Bytes in the buffer. */
  length = 0;
  /** Memory of the thread; its first `length` bytes are used. */
  readonly buffer: Buffer;
  private readonly senders: Sender[] = [];

  constructor({ outbox }: Pick<SocketCalls, "outbox">) {
    this.buffer = outbox;
  }

  /** Makes room by sending the buffer if it must. Returns false if so many bytes cannot fit. */
  makesRoom(bytes: number): boolean {
    if (this.length + bytes > this.buffer.length) this.sendAll();
    return this.length + bytes <= this.buffer.length;
  }

  /** Appends the text, `bytes[start, end)` and the tail. The caller has made room. */
  put(text: string, bytes: Buffer, start: number, end: number, tail: string): void {
    this.length += gather(this.buffer, this.length, text, bytes, start, end, tail);
  }

  enlist(sender: Sender): void {
    this.senders.push(sender);
  }

  sendAll(): void {
    const { senders } = this;
    for (const sender of senders) sender.sendGathered();
    senders.length = 0;
    this.length = 0;
  }
}
