import type { Socket } from "node:net";
import type { Checked, Timers } from "#kernel/timers.ts";
import { READ_BUFFER, readShared } from "#wire/connections/buffers/read-buffer.ts";
import type { End } from "#wire/connections/transport/transport.ts";

/** A connection of Node.js whose hello is not complete yet. */
export class PendingNodeSocket implements Checked {
  readonly socket: Socket;
  readonly client: End;
  /** The server name of the hello, as sent. */
  sentName = "";
  private readonly timers: Timers;
  private readonly onBytes: (arrival: PendingNodeSocket, bytes: Buffer) => void;
  private bytes: Buffer | null = null;
  /** Further bytes are ignored. */
  private isOver = false;
  private untilMs: number;

  constructor(
    socket: Socket,
    client: End,
    timers: Timers,
    timeoutMs: number,
    onBytes: (arrival: PendingNodeSocket, bytes: Buffer) => void,
  ) {
    this.socket = socket;
    this.client = client;
    this.timers = timers;
    this.onBytes = onBytes;
    this.untilMs = timers.nowMs + timeoutMs;
    readShared(socket, (length) => {
      const bytes = Buffer.allocUnsafe(length);
      READ_BUFFER.copy(bytes, 0, 0, length);
      this.onData(bytes);
      return true;
    });
    // Bytes that were read before, and all bytes if reads are not shared.
    socket.on("data", this.onData);
    socket.on("end", this.onEnd);
    socket.on("error", this.onEnd);
    timers.add(this);
  }

  check(nowMs: number): void {
    if (nowMs > this.untilMs) this.socket.destroy();
  }

  /** Gives the socket to another owner. */
  handOver(): void {
    this.isOver = true;
    this.socket.off("data", this.onData);
    this.socket.off("end", this.onEnd);
    this.socket.pause();
    this.timers.remove(this);
  }

  /** Sends the last bytes, and gives the other side a moment to take them. */
  end(last: Buffer, lingerMs: number): void {
    this.isOver = true;
    this.untilMs = this.timers.nowMs + lingerMs;
    this.socket.end(last);
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.isOver) return;
    // few: a hello of 16 KB, in pieces of a network
    this.bytes = this.bytes === null ? chunk : Buffer.concat([this.bytes, chunk]);
    this.onBytes(this, this.bytes);
  };

  private readonly onEnd = (): void => void this.socket.destroy();
}
