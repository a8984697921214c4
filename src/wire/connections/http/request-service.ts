import type { Trailer } from "#wire/http/chunked.ts";
import type { Head } from "#wire/http/parsed-head.ts";

/**
 * A plane's side of a client's connection: serves the requests that the connection reads, one at a time. Heads and bytes are valid
 * only during the call. An exception of a method closes the connection.
 */
export interface RequestService {
  /** The final head of the response is written, so an error can no longer be sent. */
  readonly hasBegun: boolean;
  /** A whole head. Its body waits until the service admits it. */
  onHead(buffer: Buffer, head: Head): void;
  onBody(buffer: Buffer, start: number, end: number): void;
  onRequestEnd(trailers: readonly Trailer[]): void;
  /** The request is malformed (its status) or too slow (408), and nothing more is read. The service ends it, with a response if it can. */
  onRefused(status: number): void;
  /** Sends what it gathered of the body in this read. Returns false if the connection should read no more of it until `settle`. */
  flushBody(): boolean;
  /** The client has received what was sent. */
  onDrain(): void;
  /** Bytes of an upgraded connection. Returns false as `flushBody` does. */
  onRaw(buffer: Buffer, start: number, end: number): boolean;
  onRawEnd(): void;
  /** The connection is closed, during a request or between two. The last call. */
  onClosed(): void;
}
