import { isScannedType } from "#edge/detection/scan-plan.ts";
import { createTranscoder, type Transcoder } from "#edge/detection/transcoder.ts";
import { PendingBytes } from "#wire/http/pending-bytes.ts";
import { withoutCutEdges } from "./cut-edges.ts";
import { type PartHead, parsePartHead } from "./part-head.ts";
import { decoderFor } from "./transfer-encodings.ts";

/** Bytes of `--`, the boundary, `--` and spaces. */
const DELIMITER_BYTES_MAX = 84;
/** A boundary (RFC 2046 §5.1.1). */
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;
/** Limit of a part's head; longer text is not a head. Bytes. */
const HEAD_BYTES_MAX = 8192;
/** Parts cost more than text: later ones are passed on unchanged. */
const PARTS_MAX = 1024;
/** Limit of lines that begin with two dashes, each of which may be a delimiter. */
const DASHED_MAX = 16_384;
/** Limit of nested boundaries. */
const BOUNDARIES_MAX = 8;
const [LINE_FEED, RETURN, DASH] = [0x0a, 0x0d, 0x2d];
const SEPARATOR = Buffer.from("\n");
const NOWHERE: Transcoder = { write: () => undefined, end: () => undefined };

/**
 * Passes a multipart body on: unchanged, except that encoded parts (RFC 2045 §6) are decoded if they hold text, and the
 * cut edges of partial ones are left out (RFC 9110 §14.6). Finds boundaries in the body itself, as the first line of
 * dashes and a name. `onText` takes decoded text.
 */
export class Multipart implements Transcoder {
  /** The body had more than is examined. */
  isPartial = false;
  private readonly to: Transcoder;
  private readonly onText: (bytes: Uint8Array) => void;
  private readonly boundaries: string[] = [];
  private parts = 0;
  private dashed = 0;
  private readonly pending = new PendingBytes();
  /** Waiting bytes without the end of a head. */
  private searched = 0;
  /** The waiting bytes begin a line. */
  private isAtLine = true;
  private isInHead = false;
  /** Takes the body of the part; null if it is passed on unchanged. */
  private part: Transcoder | null = null;

  constructor(to: Transcoder, onText: (bytes: Uint8Array) => void) {
    this.to = to;
    this.onText = onText;
  }

  write(bytes: Uint8Array): void {
    if (this.isPartial) return this.to.write(bytes);
    this.pending.append(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
    this.goOn(false);
  }

  end(): void {
    this.goOn(true);
    this.endPart();
    this.to.end();
  }

  private get waiting(): Buffer {
    const { buffer, start, end } = this.pending;
    return buffer.subarray(start, end);
  }

  private goOn(isEnd: boolean): void {
    while (this.pending.length > 0 && (this.isInHead ? this.takeHead(isEnd) : this.takeBody(isEnd)));
  }

  /** Returns true if more can be taken. */
  private takeHead(isEnd: boolean): boolean {
    const bytes = this.waiting.subarray(0, HEAD_BYTES_MAX);
    const end = headEnd(bytes, this.searched);
    this.searched = bytes.length;
    if (end < 0 && !isEnd && bytes.length < HEAD_BYTES_MAX) return false;
    this.isInHead = false;
    this.searched = 0;
    if (end < 0) return true;
    const head = bytes.toString("latin1", 0, end);
    this.to.write(this.take(end));
    this.isAtLine = true;
    this.beginPart(parsePartHead(head));
    return true;
  }

  private beginPart({ type, charset, encoding, boundary, cut }: PartHead): void {
    if (boundary !== "" && this.boundaries.length < BOUNDARIES_MAX) this.boundaries.push(boundary);
    this.part = decoderFor(encoding, isScannedType(type) ? createTranscoder(charset, this.onText) : NOWHERE);
    if (this.part === null && cut !== "none") this.part = withoutCutEdges(cut, this.to);
  }

  private endPart(): void {
    if (this.part === null) return;
    this.part.end();
    this.part = null;
    this.onText(SEPARATOR);
  }

  private takeBody(isEnd: boolean): boolean {
    const { waiting } = this;
    for (let at = this.dashesFrom(0); at >= 0; at = this.dashesFrom(at + 1)) {
      if (++this.dashed > DASHED_MAX) return this.giveUp();
      const near = waiting.subarray(at, at + DELIMITER_BYTES_MAX);
      const lineEnd = near.indexOf(LINE_FEED);
      if (lineEnd < 0 && near.length < DELIMITER_BYTES_MAX && !isEnd) {
        this.passBody(at);
        this.isAtLine = true;
        return false;
      }
      const delimiter = this.delimiterIn(near, lineEnd < 0 ? near.length : lineEnd);
      if (delimiter === null) continue;
      this.passBody(at);
      this.endPart();
      this.to.write(this.take(lineEnd < 0 ? near.length : lineEnd + 1));
      this.isAtLine = true;
      this.isInHead = delimiter === "part";
      return !this.isInHead || ++this.parts <= PARTS_MAX || this.giveUp();
    }
    const isDashNext = waiting.at(-1) === DASH && (waiting.length === 1 ? this.isAtLine : waiting.at(-2) === LINE_FEED);
    const end = isDashNext && !isEnd ? waiting.length - 1 : waiting.length;
    const isAtLine = isDashNext || waiting.at(-1) === LINE_FEED;
    this.passBody(end);
    this.isAtLine = isAtLine;
    return false;
  }

  private giveUp(): false {
    this.isPartial = true;
    this.isInHead = false;
    this.endPart();
    this.to.write(this.take(this.pending.length));
    return false;
  }

  /** Offset of the next line from `from` on that begins with two dashes; -1 if none does. */
  private dashesFrom(from: number): number {
    const { waiting } = this;
    if (from === 0 && this.isAtLine && waiting[0] === DASH && waiting[1] === DASH) return 0;
    const found = waiting.indexOf("\n--", Math.max(0, from - 1), "latin1");
    return found < 0 ? -1 : found + 1;
  }

  /** The line begins a part, or ends the last one, or neither. The first line that could be a boundary is taken for one. */
  private delimiterIn(line: Buffer, end: number): "part" | "end" | null {
    const name = line.toString("latin1", 2, end).trimEnd();
    if (this.boundaries.includes(name)) return "part";
    if (name.endsWith("--") && this.boundaries.includes(name.slice(0, -2))) return "end";
    if (this.boundaries.length > 0 || !BOUNDARY.test(name)) return null;
    this.boundaries.push(name);
    return "part";
  }

  private passBody(length: number): void {
    if (length > 0) (this.part ?? this.to).write(this.take(length));
  }

  private take(length: number): Buffer {
    const taken = this.waiting.subarray(0, length);
    this.pending.start += length;
    return taken;
  }
}

/** Offset after the empty line that ends a head, or -1. Ends of lines before `from` were checked already. */
function headEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    const before = bytes[at - 1] === RETURN ? at - 2 : at - 1;
    if (before < 0 || bytes[before] === LINE_FEED) return at + 1;
  }
  return -1;
}
