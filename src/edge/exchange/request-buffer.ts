import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { BodyView } from "#rules/views.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { BodyBuffer } from "#edge/http/body-buffer.ts";

/** Where a body goes once rules have let its request through. */
export interface BodyTaker {
  /** `buffer[start, end)`, good only during the call. */
  onRequestBody(buffer: Buffer, start: number, end: number): void;
  onRequestEnd(trailers: readonly Trailer[]): void;
}

/** The memory that held bodies of a thread share. */
export interface HeldBodies {
  /** `announced`: the length of the whole body, or -1 where nobody said. */
  open(announced: number): HeldBody;
}

/** `eachBytesMax` of a body are shown to rules; all together hold no more than `bytesMax`. */
export function createHeldBodies(eachBytesMax: number, bytesMax: number, metrics: MetricRegistry): HeldBodies {
  const held = metrics.gauge("selvedge_edge_held_body_bytes", "Bytes of request bodies buffered for rules");
  const take = (bytes: number): boolean => {
    if (bytes > 0 && held.value + bytes > bytesMax) return false;
    held.value += bytes;
    return true;
  };
  return { open: (announced) => new HeldBody(announced, eachBytesMax, take) };
}

const FIRST_PIECE_BYTES = 2048;

/** The beginning of a request's body, kept until rules have looked at it. */
export class HeldBody implements BodyView {
  /** Rules may look now: nothing of what they see will still come. */
  isReady = false;
  /** It is on its way; what still comes goes the same way by itself. */
  isSent = false;
  private readonly announced: number;
  private readonly shownBytesMax: number;
  private readonly take: (bytes: number) => boolean;
  private bytes: BodyBuffer | null;
  private taken = 0;
  private received = 0;
  private trailers: readonly Trailer[] | null = null;
  private text: string | null = null;

  constructor(announced: number, shownBytesMax: number, take: (bytes: number) => boolean) {
    this.announced = announced;
    this.shownBytesMax = shownBytesMax;
    this.take = take;
    // What was only announced takes up no memory yet.
    this.bytes = new BodyBuffer(announced >= 0 && announced <= FIRST_PIECE_BYTES ? announced : null, FIRST_PIECE_BYTES);
  }

  /** Of the whole body where its length was announced or all of it came; otherwise of what came before rules looked. */
  get size(): number {
    return this.announced >= 0 ? this.announced : this.received;
  }

  get truncated(): boolean {
    return this.size > this.shownBytesMax;
  }

  get raw(): string {
    return (this.text ??= this.read());
  }

  /** False where there is no memory left for it. */
  append(buffer: Buffer, start: number, end: number): boolean {
    if (this.bytes === null) return false;
    this.bytes.append(buffer, start, end);
    const more = this.bytes.allocated - this.taken;
    if (!this.take(more)) return false;
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

  /** Hands on what was kept. `keeps`: rules will look once more. */
  sendTo(taker: BodyTaker, keeps: boolean): void {
    this.isSent = true;
    for (const piece of this.pieces()) taker.onRequestBody(piece, 0, piece.length);
    if (this.trailers !== null) taker.onRequestEnd(this.trailers);
    if (!keeps) this.release();
  }

  /** Gives its memory back. What was read as text stays readable. */
  release(): void {
    this.bytes = null;
    this.take(-this.taken);
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
