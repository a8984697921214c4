/** A provider's whole answer, unchanged: code that reads or translates answers treats a stored one like a fresh one. */
export interface CachedResponse {
  readonly status: number;
  readonly contentType: string;
  /** In the chunks in which they arrived, so that a stream is replayed as a stream. */
  readonly chunks: readonly Buffer[];
  readonly bytes: number;
  readonly expiresMs: number;
}

/** Larger answers are not kept (reference, part A). */
export const CACHED_BYTES_MAX = 25 * 1024 * 1024;
