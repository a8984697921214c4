import { latin1 } from "./bytes.ts";

/** Limit of fields in any head: the size of its arrays. */
export const FIELDS_MAX = 256;
/** Limit of fields in a request, and in trailers. */
export const REQUEST_FIELDS_MAX = 128;

const SPACE = 0x20;
/** `HTTP/1.1 200` */
const STATUS_LINE_BYTES = 12;

/** The status for a refused head; 0 if it is valid. */
export type HeadFault = 0 | 400 | 414 | 417 | 431 | 501 | 505;

/**
 * A parsed request or response head. Offsets are absolute in its buffer, and both are only valid until the next parse or
 * read: one instance serves all connections of a thread.
 */
export class Head {
  method = "";
  targetStart = 0;
  targetEnd = 0;
  /** The target has bytes beyond ASCII. */
  hasOctets = false;
  /** 0 or 1: the major version is always 1. */
  minorVersion = 1;
  status = 0;
  reasonStart = 0;
  reasonEnd = 0;
  fieldsStart = 0;
  /** Offset after the empty line. */
  end = 0;
  fieldCount = 0;
  /** Four numbers per field: start and end of the name, start and end of the value. */
  readonly offsets = new Int32Array(FIELDS_MAX * 4);
  /** 1 if the field is not forwarded unchanged. */
  readonly dropped = new Uint8Array(FIELDS_MAX);
  /** -1 without a Content-Length. */
  contentLength = -1;
  chunked = false;
  connectionClose = false;
  connectionKeepAlive = false;
  connectionUpgrade = false;
  /** The Connection field lists other fields of this message. */
  connectionLists = false;
  expectContinue = false;
  /** `TE: trailers`: the sender accepts trailers. */
  takesTrailers = false;
  /** The message has an Accept-Encoding field. */
  hasCodings = false;
  /** Indices of fields that are read by name; -1 where absent. */
  hostIndex = -1;
  upgradeIndex = -1;
  keepAliveIndex = -1;
  userAgentIndex = -1;
  acceptIndex = -1;
  contentTypeIndex = -1;
  dateIndex = -1;
  loopIndex = -1;

  reset(): void {
    this.fieldCount = 0;
    this.contentLength = -1;
    this.chunked = this.connectionClose = this.connectionKeepAlive = this.connectionUpgrade = false;
    this.connectionLists = this.expectContinue = this.takesTrailers = this.hasCodings = false;
    this.hostIndex = this.upgradeIndex = this.keepAliveIndex = this.userAgentIndex = -1;
    this.acceptIndex = this.contentTypeIndex = this.dateIndex = this.loopIndex = -1;
  }

  /** Offset of a response's status line, whose reason and the space before it may be absent. */
  lineStart(buffer: Buffer): number {
    return this.reasonStart - (buffer[this.reasonStart - 1] === SPACE ? STATUS_LINE_BYTES + 1 : STATUS_LINE_BYTES);
  }

  /** A copy for a copy of the buffer that begins at `start`. */
  copyFrom(start: number): Head {
    const { targetStart, targetEnd, reasonStart, reasonEnd, fieldsStart, end } = this;
    return Object.assign(new Head(), this, {
      targetStart: targetStart - start,
      targetEnd: targetEnd - start,
      reasonStart: reasonStart - start,
      reasonEnd: reasonEnd - start,
      fieldsStart: fieldsStart - start,
      end: end - start,
      offsets: this.offsets.map((offset) => offset - start),
      dropped: this.dropped.slice(),
    });
  }

  /** The value of the field at an index, empty for -1. */
  value(buffer: Buffer, index: number): string {
    return index < 0 ? "" : latin1(buffer, this.offsets[index * 4 + 2]!, this.offsets[index * 4 + 3]!);
  }

  name(buffer: Buffer, index: number): string {
    return latin1(buffer, this.offsets[index * 4]!, this.offsets[index * 4 + 1]!);
  }
}
