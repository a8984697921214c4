import type { IncomingHttpHeaders } from "node:http";

/** Receives a request's body. Either `onEnd` or `onGone` is called last, once. */
export interface BodyReceiver {
  /** The bytes do not change later. */
  onData(bytes: Buffer): void;
  onEnd(): void;
  /** The client left before the end of the body, or sent an invalid body. */
  onGone(): void;
}

/** A request whose head has arrived. */
export interface ClientRequest {
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  /** Minor version of HTTP/1. */
  readonly minorVersion: number;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** The client's address. */
  readonly address: string;
  /** Whether a body follows the head. */
  readonly hasBody: boolean;
  /** Whether the whole body has arrived. */
  isComplete(): boolean;
  /** Call once; the body is not read before. A client that waits for permission to send it (RFC 9110 §10.1.1) gets it now. */
  take(taker: BodyReceiver): void;
  /** Stops reading the body until `resume`. */
  pause(): void;
  resume(): void;
}
