import { gather, type SocketCalls } from "./socket-calls.ts";

/** Who has something in an outbox. */
export interface Sender {
  /** Sends what it has there, if anything is left of it. */
  sendGathered(): void;
}

/**
 * What the sockets of a loop have to send in one of its turns, one behind the other in memory of the thread's, until all of it
 * goes out together: a program of this machine that is woken up by the first of it finds the rest, and is not woken up for each (ADR 0028).
 */
export class SendQueue {
  /** A turn is under way. */
  isOpen = false;
  /** How much is there. */
  length = 0;
  /** Of the thread's memory, of which the first `length` bytes count. */
  readonly buffer: Buffer;
  private readonly senders: Sender[] = [];

  constructor({ outbox }: Pick<SocketCalls, "outbox">) {
    this.buffer = outbox;
  }

  /** Whether there is room for so many bytes, once what is there was sent. */
  makesRoom(bytes: number): boolean {
    if (this.length + bytes > this.buffer.length) this.sendAll();
    return this.length + bytes <= this.buffer.length;
  }

  /** Puts the text, `bytes[start, end)` and the tail behind what is there; there is room. */
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
