import { latin1 } from "#wire/http/bytes.ts";
import { bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";
import type { Transport } from "./transport.ts";

/** Up to this size, a copy into one string and one write costs less than a second write. */
const TEXT_BYTES_MAX = 16_000;

/**
 * Gathers the output of one read event into as few writes as possible: a head and a small body leave in one piece, which
 * measured better than cork or two writes (http-edge.md).
 */
export class SocketWriter {
  /** Bytes given to this writer so far. */
  written = 0;
  private readonly transport: Transport;
  private text = "";
  /** Bytes behind the text in a buffer that stays unchanged. They need not become text unless further bytes follow. */
  private kept: Buffer | null = null;
  /** Text that follows the kept bytes: the end of a chunk, or of a body. */
  private tail = "";

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Bytes that the kernel has taken so far. */
  get bytesTaken(): number {
    return this.transport.bytesTaken;
  }

  /** Characters below 256 only, one per byte. */
  string(text: string): void {
    if (this.kept === null) this.text += text;
    else this.tail += text;
    this.written += text.length;
  }

  /** The owner reuses `shared` buffers, so bytes that are not sent at once are copied. */
  bytes(buffer: Buffer, start: number, end: number, shared: boolean): void {
    const length = end - start;
    this.written += length;
    if (this.kept !== null) this.keptToText();
    if (this.text.length + length > TEXT_BYTES_MAX) {
      if (shared) this.transport.sendShared(this.takeText(), buffer, start, end);
      else this.transport.sendKept(this.takeText(), buffer, start, end);
    } else if (shared) this.text += latin1(buffer, start, end);
    else this.kept = length === buffer.length ? buffer : buffer.subarray(start, end);
  }

  /** Bytes of a shared buffer that nothing follows for now: they go out at once, and as text only if they cannot. */
  lastBytes(buffer: Buffer, start: number, end: number): void {
    if (bufferSlots.addressOf(buffer) === 0 || !this.transport.sendsReads) return this.bytes(buffer, start, end, true);
    if (this.kept !== null) this.keptToText();
    this.written += end - start;
    this.transport.sendShared(this.takeText(), buffer, start, end);
  }

  /** Sends the gathered bytes. Returns false if the reader is behind: the source should pause until it has caught up. */
  flush(): boolean {
    const { kept, tail } = this;
    this.kept = null;
    this.tail = "";
    if (kept !== null) this.transport.sendKept(this.takeText(), kept, 0, kept.length, tail);
    else if (this.text !== "") this.transport.sendText(this.takeText());
    return !this.transport.needsDrain;
  }

  private keptToText(): void {
    const { kept, tail } = this;
    this.kept = null;
    this.tail = "";
    if (kept !== null) this.text += latin1(kept, 0, kept.length) + tail;
  }

  private takeText(): string {
    const { text } = this;
    this.text = "";
    return text;
  }
}
