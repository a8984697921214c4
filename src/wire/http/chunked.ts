import { CR, FIELD_VALUE, HEX_VALUE, LF, SEMICOLON } from "./bytes.ts";
import { parseFields } from "./head.ts";
import { Head } from "./parsed-head.ts";
import { TRAILER_FIELDS } from "./known-fields.ts";

/** Receives payload bytes. They are only valid during the call, because the buffer is reused. */
export interface BodySink {
  onBody(buffer: Buffer, start: number, end: number): void;
}

/** A trailer field as received, with its value trimmed. */
export interface Trailer {
  readonly name: string;
  readonly value: string;
}

/** Results of `read` besides the offset after the body. */
export const NEED_MORE = -1;
export const BODY_MALFORMED = -400;
export const BODY_TOO_LARGE = -413;

/** 12 digits are below 2^53; leading zeros count too, so that their number is limited. */
const SIZE_DIGITS_MAX = 12;
const EXTENSION_BYTES_MAX = 1024;
const EXTENSIONS_BYTES_MAX = 16_384;
const TRAILER_BYTES_MAX = 8192;
/** Smaller pieces of payload in one read are passed on as one, so that the sender's framing costs others nothing. */
const PIECE_BYTES_MIN = 1024;

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILERS = 6;

const trailerHead = new Head();

/**
 * Reads the chunked coding (RFC 9112 §7.1) strictly and returns the payload only. Sizes, extensions and trailers are
 * generated again for the next hop, so uninterpreted bytes are never forwarded.
 */
export class ChunkedReader {
  trailers: readonly Trailer[] = [];
  private state = SIZE;
  private left = 0;
  private digits = 0;
  private extensionBytes = 0;
  private extensionsBytes = 0;
  private section: Buffer | null = null;
  private sectionLength = 0;
  /** Small pieces that were moved together, in the buffer that is being read. */
  private joinedFrom = 0;
  private joinedTo = 0;

  reset(): void {
    this.state = SIZE;
    this.left = this.digits = this.extensionBytes = this.extensionsBytes = this.sectionLength = this.joinedFrom = this.joinedTo = 0;
    this.trailers = [];
  }

  /** Returns the offset after the body, NEED_MORE, BODY_MALFORMED or BODY_TOO_LARGE. Overwrites framing with payload. */
  read(buffer: Buffer, start: number, end: number, sink: BodySink): number {
    const result = this.readPieces(buffer, start, end, sink);
    this.passJoined(buffer, sink);
    return result;
  }

  private passJoined(buffer: Buffer, sink: BodySink): void {
    const { joinedFrom, joinedTo } = this;
    this.joinedFrom = this.joinedTo = 0;
    if (joinedTo > joinedFrom) sink.onBody(buffer, joinedFrom, joinedTo);
  }

  private piece(buffer: Buffer, start: number, end: number, sink: BodySink): void {
    if (end - start >= PIECE_BYTES_MIN) {
      this.passJoined(buffer, sink);
      sink.onBody(buffer, start, end);
    } else if (this.joinedTo === this.joinedFrom) {
      this.joinedFrom = start;
      this.joinedTo = end;
    } else if (end - start === 1) buffer[this.joinedTo++] = buffer[start]!;
    else {
      buffer.copyWithin(this.joinedTo, start, end);
      this.joinedTo += end - start;
    }
  }

  private readPieces(buffer: Buffer, start: number, end: number, sink: BodySink): number {
    let i = start;
    while (i < end) {
      if (this.state === DATA) {
        const taken = Math.min(this.left, end - i);
        this.piece(buffer, i, i + taken, sink);
        i += taken;
        this.left -= taken;
        if (this.left === 0) this.state = DATA_CR;
      } else if (this.state === TRAILERS) {
        const fault = this.readTrailerByte(buffer[i++]!);
        if (fault === 0) return i;
        if (fault !== NEED_MORE) return fault;
      } else {
        const fault = this.readFramingByte(buffer[i++]!);
        if (fault !== 0) return fault;
      }
    }
    return NEED_MORE;
  }

  private readFramingByte(byte: number): number {
    switch (this.state) {
      case SIZE: {
        const digit = HEX_VALUE[byte]!;
        if (digit >= 0) {
          if (++this.digits > SIZE_DIGITS_MAX) return BODY_TOO_LARGE;
          this.left = this.left * 16 + digit;
          return 0;
        }
        if (this.digits === 0) return BODY_MALFORMED;
        if (byte === CR) this.state = SIZE_LF;
        else if (byte === SEMICOLON) this.state = EXTENSION;
        else return BODY_MALFORMED;
        this.extensionBytes = 0;
        return 0;
      }
      case EXTENSION:
        if (byte === CR) this.state = SIZE_LF;
        else if (FIELD_VALUE[byte] === 0) return BODY_MALFORMED;
        else if (++this.extensionBytes > EXTENSION_BYTES_MAX || ++this.extensionsBytes > EXTENSIONS_BYTES_MAX) return BODY_TOO_LARGE;
        return 0;
      case SIZE_LF:
        this.digits = 0;
        this.state = this.left === 0 ? TRAILERS : DATA;
        return byte === LF ? 0 : BODY_MALFORMED;
      case DATA_CR:
        this.state = DATA_LF;
        return byte === CR ? 0 : BODY_MALFORMED;
      default:
        this.state = SIZE;
        return byte === LF ? 0 : BODY_MALFORMED;
    }
  }

  /** Collects the trailer section; 0 when it has ended and is valid. */
  private readTrailerByte(byte: number): number {
    const section = (this.section ??= Buffer.allocUnsafe(TRAILER_BYTES_MAX));
    if (this.sectionLength === TRAILER_BYTES_MAX) return BODY_TOO_LARGE;
    section[this.sectionLength++] = byte;
    if (byte !== LF) return NEED_MORE;
    const length = this.sectionLength;
    if (length < 2 || section[length - 2] !== CR) return BODY_MALFORMED;
    if (length !== 2 && (section[length - 3] !== LF || section[length - 4] !== CR)) return NEED_MORE;
    trailerHead.reset();
    const fault = parseFields(section, 0, length, trailerHead, TRAILER_FIELDS);
    if (fault !== 0) return fault === 431 ? BODY_TOO_LARGE : BODY_MALFORMED;
    if (trailerHead.fieldCount > 0) this.trailers = readTrailers(section);
    return 0;
  }
}

function readTrailers(section: Buffer): Trailer[] {
  const trailers: Trailer[] = [];
  for (let index = 0; index < trailerHead.fieldCount; index++) {
    trailers.push({ name: trailerHead.name(section, index), value: trailerHead.value(section, index) });
  }
  return trailers;
}
