import type { Socket } from "node:net";
import { latin1 } from "#wire/http/bytes.ts";
import { READ_BUFFER } from "./shared-reads.ts";

/** Up to here a copy into one string and one write costs less than a second write. */
const TEXT_BYTES_MAX = 16_000;
/** Holds a whole read of a shared buffer and the text before it. */
const COPY_BYTES = READ_BUFFER.length + TEXT_BYTES_MAX;
/** Copies kept for the next write, of a thread: a new one for each read costs more in garbage than the copying. */
const SPARE_COPIES_MAX = 16;
const spareCopies: Buffer[] = [];

/**
 * Gathers what one read event leads to into as few writes as can be: a head and a small body leave in
 * one piece, which measured better than cork or two writes (http-edge.md).
 */
export class SocketWriter {
  /** Bytes given to this writer so far. */
  written = 0;
  private readonly socket: Socket;
  private text = "";

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Characters below 256 only, one a byte. */
  string(text: string): void {
    this.text += text;
    this.written += text.length;
  }

  /** `shared` buffers are reused by their owner, so what is not sent at once is copied. */
  bytes(buffer: Buffer, start: number, end: number, shared: boolean): void {
    const length = end - start;
    this.written += length;
    if (this.text.length + length <= TEXT_BYTES_MAX) {
      this.text += latin1(buffer, start, end);
      return;
    }
    if (shared) return this.copied(buffer, start, end);
    this.socket.cork();
    this.flush();
    this.socket.write(buffer.subarray(start, end));
    this.socket.uncork();
  }

  /** Sends what was gathered. False when the reader is behind and the source should pause until `drain`. */
  flush(): boolean {
    if (this.text !== "") {
      const text = this.text;
      this.text = "";
      this.socket.write(text, "latin1");
    }
    return !this.socket.writableNeedDrain;
  }

  private copied(buffer: Buffer, start: number, end: number): void {
    const { socket, text } = this;
    const length = text.length + end - start;
    const copy = (length <= COPY_BYTES ? spareCopies.pop() : undefined) ?? Buffer.allocUnsafeSlow(Math.max(length, COPY_BYTES));
    copy.write(text, 0, "latin1");
    buffer.copy(copy, text.length, start, end);
    this.text = "";
    // Called when the kernel has it all, which is most often before `write` returns, or when the socket was closed.
    socket.write(copy.subarray(0, length), () => {
      if (copy.length === COPY_BYTES && spareCopies.length < SPARE_COPIES_MAX) spareCopies.push(copy);
    });
  }
}
