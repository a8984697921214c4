import { BODY_MALFORMED, type BodySink, ChunkedReader, NEED_MORE, type Trailer } from "./chunked.ts";
import type { Head } from "./parsed-head.ts";

/** How the end of a body is determined (RFC 9112 §6.3). */
export type Framing = typeof NO_BODY | typeof BY_LENGTH | typeof CHUNKED | typeof UNTIL_CLOSE;

export const NO_BODY = 0;
export const BY_LENGTH = 1;
export const CHUNKED = 2;
export const UNTIL_CLOSE = 3;

export const requestFraming = (head: Head): Framing => (head.chunked ? CHUNKED : head.contentLength > 0 ? BY_LENGTH : NO_BODY);

export function responseFraming(head: Head, requestMethod: string): Framing {
  if (requestMethod === "HEAD" || isBodiless(head.status)) return NO_BODY;
  if (head.chunked) return CHUNKED;
  if (head.contentLength >= 0) return head.contentLength === 0 ? NO_BODY : BY_LENGTH;
  return UNTIL_CLOSE;
}

/** Whether responses with this status never have a body. */
export const isBodiless = (status: number): boolean => status < 200 || status === 204 || status === 304;

/** Whether the connection stays open after a message with this head (RFC 9112 §9.3). */
export const isPersistent = (head: Head): boolean => !head.connectionClose && (head.minorVersion === 1 || head.connectionKeepAlive);

const NO_TRAILERS: readonly Trailer[] = [];

/** Reads bodies in sequence, whatever their framing. Reading byte by byte gives the same result as reading at once. */
export class BodyReader {
  framing: Framing = NO_BODY;
  private left = 0;
  private chunks: ChunkedReader | null = null;

  /** `length` is used for BY_LENGTH only. */
  begin(framing: Framing, length: number): void {
    this.framing = framing;
    this.left = length;
    if (framing === CHUNKED) (this.chunks ??= new ChunkedReader()).reset();
  }

  /** Valid after the end of the body. */
  get trailers(): readonly Trailer[] {
    return this.framing === CHUNKED && this.chunks !== null ? this.chunks.trailers : NO_TRAILERS;
  }

  /** Passes payload to the sink. Returns the offset after the body, NEED_MORE, or a negative HTTP status. */
  read(buffer: Buffer, start: number, end: number, sink: BodySink): number {
    switch (this.framing) {
      case NO_BODY:
        return start;
      case BY_LENGTH: {
        const taken = Math.min(this.left, end - start);
        if (taken > 0) sink.onBody(buffer, start, start + taken);
        this.left -= taken;
        return this.left === 0 ? start + taken : NEED_MORE;
      }
      case CHUNKED:
        return this.chunks === null ? BODY_MALFORMED : this.chunks.read(buffer, start, end, sink);
      case UNTIL_CLOSE:
        if (end > start) sink.onBody(buffer, start, end);
        return NEED_MORE;
    }
  }
}
