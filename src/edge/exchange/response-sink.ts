import type { Trailer } from "#wire/http/chunked.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Page } from "#edge/pages/error-page.ts";

/** The visitor's side of a forwarded request: whatever protocol it speaks. Bytes are good only during the call. */
export interface Visitor {
  /** The request's body is taken from now on: rules want to see it, or the origin is ready. Both may say so. */
  admitBody(): void;
  onOriginDrain(): void;
  sendInterim(buffer: Buffer, head: Head): void;
  /** False where the visitor asked for no upgrade. */
  sendSwitch(buffer: Buffer, head: Head): boolean;
  sendHead(buffer: Buffer, head: Head, framing: Framing): void;
  sendBody(buffer: Buffer, start: number, end: number): void;
  sendEnd(trailers: readonly Trailer[]): void;
  /** Bytes of an upgraded connection. */
  sendRaw(buffer: Buffer, start: number, end: number): void;
  endRaw(): void;
  /** Writes what was gathered; false when the visitor is behind. */
  flush(): boolean;
  /** Nothing of a response was sent yet: this is all of it. */
  sendPage(page: Page): void;
  /** A response was begun and cannot be completed. */
  cut(): void;
}
