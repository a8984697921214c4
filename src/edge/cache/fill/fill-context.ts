import type { Exchange } from "#edge/exchange/exchange.ts";
import type { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import type { BodySource } from "#edge/cache/store/body-source.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import type { DiskWriter } from "#edge/cache/store/disk-writer.ts";
import type { RequestKey, StoredResponse } from "#edge/cache/store/stored-response.ts";

/** The cache that started a fill, as the fill sees it. */
export interface FillOwner {
  nowMs(): number;
  /** Names of targeted cache-control fields, the most specific first (RFC 9213). */
  readonly targets: readonly string[];
  /** Size limit of a body in memory. */
  readonly objectBytesMax: number;
  /** A writer for a body that is too large for the memory; null if the disk has no space or is not used. */
  writer(): DiskWriter | null;
  /** Size limit of a body on disk. */
  readonly diskObjectBytesMax: number;
  /** Reserves bytes for bodies of unfinished fills. Returns false if the limit is reached. A negative number releases bytes. */
  reserve(bytes: number): boolean;
  keep(response: StoredResponse): void;
  keepWritten(writer: DiskWriter, describeAs: (length: number) => StoredResponse): void;
  /** `next` replaces the response that the origin confirmed. */
  renew(stale: StoredResponse, next: StoredResponse): void;
  drop(response: StoredResponse): void;
  /**
   * New requests may no longer wait for this fill. `refused` is set if the response cannot be shared; later requests
   * then do not wait.
   */
  released(request: FillRequest, refused: Refusal | null): void;
  respond(reader: CacheReader, response: StoredResponse, source: BodySource, status: CacheStatus): void;
  /** Answers with a stored response, from memory or disk. */
  give(reader: CacheReader, response: StoredResponse, status: CacheStatus): void;
}

export interface Refusal {
  readonly status: CacheStatus;
  /** How long to remember the refusal, in milliseconds. */
  readonly keptMs: number;
  /** Applies to range requests only. */
  readonly isForParts: boolean;
}

export interface FillRequest {
  readonly asked: RequestKey;
  /** The exchange sent to the origin. */
  readonly exchange: Exchange;
  readonly hasAuthorization: boolean;
  /** The stored response that is too old; null without one. */
  readonly stale: StoredResponse | null;
}

/** A request to an origin, which can be paused and aborted. */
export interface Source {
  abort(): void;
  onVisitorDrain(): void;
}
