import type { IncomingHttpHeaders } from "node:http";

/** Who takes a request's body. Either `onEnd` or `onGone` comes at last, once. */
export interface BodyReceiver {
  /** Bytes that nobody will change. */
  onData(bytes: Buffer): void;
  onEnd(): void;
  /** The client left before it had sent everything, or sent what is no body. */
  onGone(): void;
}

/** A request whose head has come. */
export interface ClientRequest {
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  /** Of HTTP/1. */
  readonly minorVersion: number;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** The client's. */
  readonly address: string;
  /** Something comes behind the head. */
  readonly hasBody: boolean;
  /** All of it has come. */
  isComplete(): boolean;
  /** Once; until then the body is not read. A client that waits for leave to send it (RFC 9110 §10.1.1) gets it now. */
  take(taker: BodyReceiver): void;
  /** Nothing more of the body is read until `resume`. */
  pause(): void;
  resume(): void;
}
