/** A provider's whole answer, as it came: what looks at answers or translates them sees a kept one like a fresh one. */
export interface KeptAnswer {
  readonly status: number;
  readonly contentType: string;
  /** In the pieces in which they came, so that a stream is played as one. */
  readonly chunks: readonly Buffer[];
  readonly bytes: number;
  readonly expiresMs: number;
}

/** Larger answers are not kept (reference, part A). */
export const KEPT_BYTES_MAX = 25 * 1024 * 1024;
