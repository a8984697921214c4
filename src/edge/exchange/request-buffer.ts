import { FairMemory, type MemoryShare } from "#kernel/fair-memory.ts";
import { networkOf } from "#kernel/net/network-of.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { BodyView } from "#rules/views.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { BodyBuffer } from "#edge/http/body-buffer.ts";

/** Receives a request body after the rules accepted the request. */
export interface RequestBodySink {
  /** `buffer[start, end)` is valid only during the call. */
  onRequestBody(buffer: Buffer, start: number, end: number): void;
  onRequestEnd(trailers: readonly Trailer[]): void;
}

/** The request with the body: neither an account's zones nor a client take the memory of the others. */
type BodyOwner = Pick<Exchange, "zone" | "client_ip">;

/** The memory that a thread's bodies share that are buffered for rules. */
export interface RequestBuffers {
  /** `announced`: Content-Length, or -1 if unknown. */
  open(announced: number, owner: BodyOwner): RequestBuffer;
  /** Memory for something else that waits for rules. */
  share(owner: BodyOwner): MemoryShare;
}

/** Buffers up to `eachBytesMax` bytes of a body for rules, and up to `bytesMax` bytes of all bodies together. */
export function createRequestBuffers(eachBytesMax: number, bytesMax: number, metrics: MetricRegistry): RequestBuffers {
  const held = metrics.gauge("selvedge_edge_request_buffer_bytes", "Bytes of bodies buffered for rules");
  const memory = new FairMemory(bytesMax, held);
  const share = ({ zone, client_ip }: BodyOwner): MemoryShare => memory.share(zone?.entry.account_id ?? "", networkOf(client_ip));
  return { open: (announced, owner) => new RequestBuffer(announced, eachBytesMax, share(owner)), share };
}

const FIRST_PIECE_BYTES = 2048;

/** The beginning of a request body, buffered until rules have read it. */
export class RequestBuffer implements BodyView {
  /** Rules may read the body now; what they see no longer grows. */
  isReady = false;
  /** The buffered bytes were forwarded; later bytes bypass the buffer. */
  isSent = false;
  private readonly announced: number;
  private readonly shownBytesMax: number;
  private readonly memory: MemoryShare;
  private bytes: BodyBuffer | null;
  private taken = 0;
  private received = 0;
  private trailers: readonly Trailer[] | null = null;
  private text: string | null = null;

  constructor(announced: number, shownBytesMax: number, memory: MemoryShare) {
    this.announced = announced;
    this.shownBytesMax = shownBytesMax;
    this.memory = memory;
    // A client that only announces a body must not take up memory.
    this.bytes = new BodyBuffer(announced >= 0 && announced <= FIRST_PIECE_BYTES ? announced : null, FIRST_PIECE_BYTES);
  }

  /** Size of the whole body if its length was announced or all of it arrived; otherwise, of what arrived before rules ran. */
  get size(): number {
    return this.announced >= 0 ? this.announced : this.received;
  }

  get truncated(): boolean {
    return this.size > this.shownBytesMax;
  }

  get decodedBytesMax(): number {
    return this.shownBytesMax;
  }

  get raw(): string {
    return (this.text ??= this.read());
  }

  /** Returns false if the memory limit is reached. */
  append(buffer: Buffer, start: number, end: number): boolean {
    if (this.bytes === null) return false;
    this.bytes.append(buffer, start, end);
    const more = this.bytes.allocated - this.taken;
    if (!this.memory.take(more)) return false;
    this.taken += more;
    if (!this.isReady) {
      this.received += end - start;
      this.isReady = this.received > this.shownBytesMax;
    }
    return true;
  }

  end(trailers: readonly Trailer[]): void {
    this.trailers = trailers;
    this.isReady = true;
  }

  /** Forwards the buffered bytes. `keeps`: keep them for response rules. */
  sendTo(taker: RequestBodySink, keeps: boolean): void {
    this.isSent = true;
    for (const piece of this.pieces()) taker.onRequestBody(piece, 0, piece.length);
    if (this.trailers !== null) taker.onRequestEnd(this.trailers);
    if (!keeps) this.release();
  }

  /** Frees the memory. The text that rules already decoded stays available. */
  release(): void {
    this.bytes = null;
    this.memory.release();
    this.taken = 0;
  }

  private read(): string {
    let text = "";
    for (const piece of this.pieces()) text += piece.toString("latin1", 0, Math.min(piece.length, this.shownBytesMax - text.length));
    return text;
  }

  private pieces(): readonly Buffer[] {
    const pieces: Buffer[] = [];
    for (let at = 0; this.bytes !== null;) {
      const piece = this.bytes.from(at);
      if (piece === null) break;
      pieces.push(piece);
      at += piece.length;
    }
    return pieces;
  }
}
