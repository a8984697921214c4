import type { UpstreamPools } from "#edge/origin/upstream-pool.ts";
import type { CompiledIngress } from "#model/tunnels/ingress-rules.ts";
import type { ClientOwner } from "#wire/connections/http/client-owner.ts";
import type { Http1Connection } from "#wire/connections/http/http1-connection.ts";
import type { Trailer } from "#wire/http/chunked.ts";

/** The connector, as its streams see it. */
export interface Serving {
  readonly owner: ClientOwner;
  rules(): readonly CompiledIngress[];
  /** Connections to services. `caFile`: "" for the public authorities. Null if the file cannot be read. */
  pools(caFile: string): UpstreamPools | null;
  /** A request came, and the tunnel has no rules. */
  onUnset(): void;
}

/** The part that answers one request. */
export interface Answering {
  onRequestBody(buffer: Buffer, start: number, end: number): void;
  onRequestEnd(trailers: readonly Trailer[]): void;
  /** False if the service is behind. */
  flushRequest(): boolean;
  /** The edge takes more. */
  onEdgeDrain(): void;
  onRaw(buffer: Buffer, start: number, end: number): boolean;
  onRawEnd(): void;
  abort(): void;
}

/** A stream, as the part that answers its request sees it. */
export interface AnsweredStream {
  readonly connection: Http1Connection;
  hasBegun: boolean;
  /** The connector's own answer; once another has begun, the stream can only be cut. */
  answer(status: number, text: string): void;
  /** The response is written. */
  finish(keepsAlive: boolean): void;
  /** Whether the edge should send nothing more on this stream. */
  closing(): boolean;
}
