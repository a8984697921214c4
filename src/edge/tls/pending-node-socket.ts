import type { Socket } from "node:net";
import type { Checked, Timers } from "#kernel/timers.ts";
import { READ_BUFFER, readShared } from "#wire/connections/buffers/read-buffer.ts";
import type { End } from "#wire/connections/transport/transport.ts";

/** A connection of Node's that has not said yet what it wants. */
export class NodeArrival implements Checked {
  readonly socket: Socket;
  readonly client: End;
  /** The name that it asked for, as it was sent. */
  sentName = "";
  private readonly timers: Timers;
  private readonly onBytes: (arrival: NodeArrival, bytes: Buffer) => void;
  private bytes: Buffer | null = null;
  /** What comes is of no interest any more. */
  private isOver = false;
  private untilMs: number;

  constructor(socket: Socket, client: End, timers: Timers, timeoutMs: number, onBytes: (arrival: NodeArrival, bytes: Buffer) => void) {
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
    // What was read before, and everything where reads are not shared.
    socket.on("data", this.onData);
    socket.on("end", this.onEnd);
    socket.on("error", this.onEnd);
    timers.add(this);
  }

  check(nowMs: number): void {
    if (nowMs > this.untilMs) this.socket.destroy();
  }

  /** The socket belongs to somebody else from now on. */
  handOver(): void {
    this.isOver = true;
    this.socket.off("data", this.onData);
    this.socket.off("end", this.onEnd);
    this.socket.pause();
    this.timers.remove(this);
  }

  /** Sends the last bytes, and waits a moment for the other side to have them. */
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
