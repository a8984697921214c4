import type { Socket } from "node:net";
import { latin1 } from "#wire/http/bytes.ts";
import { descriptorOf, type DirectSend, type Handle, handleOf } from "./direct-send.ts";
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
 * one piece, which measured better than cork or two writes (http-edge.md). What the kernel takes at once goes to it
 * directly; the rest, and everything where that cannot be, is the socket's to write.
 */
export class SocketWriter {
  /** Bytes given to this writer so far. */
  written = 0;
  private readonly socket: Socket;
  private readonly direct: DirectSend | null;
  /** Whose the descriptor is. */
  private handle: Handle | null = null;
  private descriptor = -1;
  private sentDirectly = 0;
  private text = "";

  constructor(socket: Socket, direct: DirectSend | null) {
    this.socket = socket;
    this.direct = direct;
  }

  /** Bytes that the kernel has taken so far. */
  get bytesTaken(): number {
    return this.sentDirectly + this.socket.bytesWritten - this.socket.writableLength;
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
    if (buffer === READ_BUFFER && this.direct !== null && this.isFree()) return this.read(this.direct, start, end);
    if (shared) return this.copied(this.takeText(), buffer, start, end);
    this.socket.cork();
    this.flush();
    this.socket.write(buffer.subarray(start, end));
    this.socket.uncork();
  }

  /** Bytes of a shared buffer that nothing follows for now: they go out at once, and as text only where they cannot. */
  lastBytes(buffer: Buffer, start: number, end: number): void {
    if (buffer !== READ_BUFFER || this.direct === null || !this.isFree()) return this.bytes(buffer, start, end, true);
    this.written += end - start;
    this.read(this.direct, start, end);
  }

  /** Sends what was gathered. False when the reader is behind and the source should pause until `drain`. */
  flush(): boolean {
    if (this.text !== "") {
      const text = this.takeText();
      const sent = this.direct !== null && this.isFree() ? this.direct.text(this.descriptor, text) : 0;
      this.sentDirectly += sent;
      if (sent < text.length) this.socket.write(sent === 0 ? text : text.slice(sent), "latin1");
    }
    return !this.socket.writableNeedDrain;
  }

  /** Without a copy where the kernel takes it all. */
  private read(direct: DirectSend, start: number, end: number): void {
    const text = this.takeText();
    const sent = direct.textAndRead(this.descriptor, text, start, end);
    this.sentDirectly += sent;
    const sentOfRead = Math.max(0, sent - text.length);
    if (sentOfRead < end - start) this.copied(text.slice(sent), READ_BUFFER, start + sentOfRead, end);
  }

  /**
   * Whether nothing waits to be written before, and the descriptor is still this socket's: once a socket has closed, its
   * number is soon another's.
   */
  private isFree(): boolean {
    const { socket } = this;
    const handle = handleOf(socket);
    if (handle === null) return false;
    if (handle !== this.handle) {
      this.handle = handle;
      this.descriptor = descriptorOf(socket, handle);
    }
    return this.descriptor >= 0 && socket.writableLength === 0 && !socket.writableEnded && !socket.connecting;
  }

  private takeText(): string {
    const { text } = this;
    this.text = "";
    return text;
  }

  private copied(text: string, buffer: Buffer, start: number, end: number): void {
    const length = text.length + end - start;
    const copy = (length <= COPY_BYTES ? spareCopies.pop() : undefined) ?? Buffer.allocUnsafeSlow(Math.max(length, COPY_BYTES));
    copy.write(text, 0, "latin1");
    buffer.copy(copy, text.length, start, end);
    // Called when the kernel has it all, which is most often before `write` returns, or when the socket was closed.
    this.socket.write(copy.subarray(0, length), () => {
      if (copy.length === COPY_BYTES && spareCopies.length < SPARE_COPIES_MAX) spareCopies.push(copy);
    });
  }
}
