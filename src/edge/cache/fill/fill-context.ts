import type { Exchange } from "#edge/exchange/exchange.ts";
import type { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import type { BodySource } from "#edge/cache/store/body-source.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import type { DiskWriter } from "#edge/cache/store/disk-writer.ts";
import type { Asked, StoredResponse } from "#edge/cache/store/stored-response.ts";

/** What a fill needs of the cache that began it. */
export interface FillOwner {
  nowMs(): number;
  /** Names of targeted fields, the most specific first (RFC 9213). */
  readonly targets: readonly string[];
  /** The largest body that is kept. */
  readonly objectBytesMax: number;
  /** A place on disk for a body that is too large for the memory; null where there is none. */
  writer(): DiskWriter | null;
  /** The largest body that has a place on disk. */
  readonly diskObjectBytesMax: number;
  /** Sets bytes aside for bodies that are under way; false where there are too many already. A negative number gives them back. */
  reserve(bytes: number): boolean;
  keep(response: StoredResponse): void;
  keepWritten(writer: DiskWriter, describeAs: (length: number) => StoredResponse): void;
  /** `next` stands for what was confirmed. */
  renew(stale: StoredResponse, next: StoredResponse): void;
  drop(response: StoredResponse): void;
  /** Nobody may wait for the fill of this request any more; `refused` where the response is not for all, so that nobody waits next time. */
  released(request: FillRequest, refused: Refusal | null): void;
  respond(reader: CacheReader, response: StoredResponse, source: BodySource, status: CacheStatus): void;
  /** Answers with a response whose body is kept, in memory or on disk. */
  give(reader: CacheReader, response: StoredResponse, status: CacheStatus): void;
}

export interface Refusal {
  readonly status: CacheStatus;
  /** How long to remember it. */
  readonly keptMs: number;
  /** Only those who want a part of it need not wait. */
  readonly isForParts: boolean;
}

export interface FillRequest {
  readonly asked: Asked;
  /** The exchange that the origin is asked for. */
  readonly exchange: Exchange;
  readonly hasAuthorization: boolean;
  /** What was there and is too old; null where nothing was. */
  readonly stale: StoredResponse | null;
}

/** The way to the origin and back. */
export interface Source {
  abort(): void;
  onVisitorDrain(): void;
}
