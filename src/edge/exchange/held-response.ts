import type { MemoryShare } from "#kernel/fair-memory.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { sentText } from "#rules/body/read-body.ts";
import { BodyBuffer } from "#edge/http/body-buffer.ts";
import { editedValues } from "#edge/http/header-edits.ts";

/** The part of a response's body that rules see, also without its content codings, and that is held for them. Bytes. */
export const SHOWN_BYTES_MAX = 131_072;
const FIRST_PIECE_BYTES = 4096;

/** Passes on a response that was held. `buffer[start, end)` stays valid. */
export interface HeldResponseSink {
  passHead(buffer: Buffer, head: Head, framing: Framing): void;
  passBody(buffer: Buffer, start: number, end: number): void;
}

/** A response that waits until rules have judged the start of its body. Nothing of it has been sent. */
export class HeldResponse {
  /** Copies, because the caller reuses the head. */
  readonly buffer: Buffer;
  readonly head: Head;
  private readonly framing: Framing;
  private readonly memory: MemoryShare;
  private readonly bytes = new BodyBuffer(null, FIRST_PIECE_BYTES);
  private taken = 0;

  constructor(buffer: Buffer, head: Head, framing: Framing, memory: MemoryShare) {
    this.buffer = Buffer.from(buffer.subarray(head.lineStart(buffer), head.end));
    this.head = head.copyFrom(head.lineStart(buffer));
    this.framing = framing;
    this.memory = memory;
  }

  /** True once rules have all of the body that they may see. */
  get isFull(): boolean {
    return this.bytes.length >= SHOWN_BYTES_MAX;
  }

  /** Returns false if the memory limit is reached. */
  append(buffer: Buffer, start: number, end: number): boolean {
    this.bytes.append(buffer, start, end);
    const more = this.bytes.allocated - this.taken;
    if (!this.memory.take(more)) return false;
    this.taken += more;
    return true;
  }

  /** The start of the body for rules, one char a byte; as it was sent if its content codings cannot be undone. */
  text(): string {
    let raw = "";
    for (const piece of this.pieces()) raw += piece.toString("latin1", 0, Math.min(piece.length, SHOWN_BYTES_MAX - raw.length));
    const contentEncoding = editedValues(this.buffer, this.head, null, "content-encoding");
    if (contentEncoding.length === 0) return raw;
    const sent = { raw, truncated: this.isFull, contentType: [], contentEncoding, decodedBytesMax: SHOWN_BYTES_MAX };
    return sentText(sent).slice(0, SHOWN_BYTES_MAX);
  }

  passTo(sink: HeldResponseSink): void {
    sink.passHead(this.buffer, this.head, this.framing);
    for (const piece of this.pieces()) sink.passBody(piece, 0, piece.length);
    this.release();
  }

  /** Gives the memory back. */
  release(): void {
    this.memory.release();
    this.taken = 0;
  }

  private pieces(): readonly Buffer[] {
    const pieces: Buffer[] = [];
    for (let at = 0; ;) {
      const piece = this.bytes.from(at);
      if (piece === null) return pieces;
      pieces.push(piece);
      at += piece.length;
    }
  }
}

/** Empty: without a type, programs look at the body. */
const HELD: ReadonlySet<string> = new Set(["", "text/html", "text/plain", "text/xml", "application/json", "application/xml"]);

/**
 * Whether responses of a media type wait for rules that read their bodies: pages, texts and documents. Scripts, style sheets
 * and media do not, and event streams may never end.
 */
export const isHeldType = (mediaType: string): boolean =>
  HELD.has(mediaType) || (mediaType !== "image/svg+xml" && (mediaType.endsWith("+json") || mediaType.endsWith("+xml")));
