import type { Trailer } from "#wire/http/chunked.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Page } from "#edge/pages/error-page.ts";

/** Writes responses to a visitor, in any HTTP version. Buffers are valid only during the call. */
export interface ResponseSink {
  /** Starts reading the request body, because a rule reads it or the origin is ready. May be called twice. */
  admitBody(): void;
  onOriginDrain(): void;
  sendInterim(buffer: Buffer, head: Head): void;
  /** Returns false if the visitor did not ask for an upgrade. */
  sendSwitch(buffer: Buffer, head: Head): boolean;
  sendHead(buffer: Buffer, head: Head, framing: Framing): void;
  sendBody(buffer: Buffer, start: number, end: number): void;
  sendEnd(trailers: readonly Trailer[]): void;
  /** Bytes of an upgraded connection. */
  sendRaw(buffer: Buffer, start: number, end: number): void;
  endRaw(): void;
  /** Writes the gathered bytes. Returns false if the visitor reads too slowly. */
  flush(): boolean;
  /** Sends a complete response; nothing may have been sent before. */
  sendPage(page: Page): void;
  /** Aborts a response that has begun. */
  cut(): void;
}
