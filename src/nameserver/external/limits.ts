/** Bounds of what is asked of servers elsewhere and kept of their answers. */
export interface OutsideLimits {
  /** For one server to answer. */
  readonly serverTimeoutMs: number;
  /** For one look-up with all its servers, retries and aliases. */
  readonly lookupTimeoutMs: number;
  /** For a question to wait for a look-up; then it is answered with what there is. */
  readonly waitMs: number;
  /** Questions that may wait at one time; more are answered with what there is. */
  readonly waitersMax: number;
  readonly lookupsMax: number;
  /** Look-ups that wait for their turn; more fail at once. */
  readonly queuedLookupsMax: number;
  /** Names and types that are kept. */
  readonly entriesMax: number;
  /** For so long at the least what was found is kept, whatever its TTL, in seconds. */
  readonly ttlMin: number;
  /** The most that is believed of a TTL, in seconds. */
  readonly ttlMax: number;
  /** The most for which "nothing there" is believed, in seconds. */
  readonly nothingTtlMax: number;
  /** After so much of its TTL what is in use is looked up again, so that it never runs out. */
  readonly refreshAfter: number;
  /** How long the last good answer stands in while look-ups fail (RFC 8767 §4: one to three days). */
  readonly staleMs: number;
  /** Of an answer that stands in, or that says "nothing" because nothing could be learnt, in seconds (RFC 8767 §4). */
  readonly staleTtl: number;
  /** Between two look-ups of a name that fail; doubled up to the other. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Names that are looked up before anybody asks, when zones arrive or change. */
  readonly warmNamesMax: number;
}

export const OUTSIDE_LIMITS: OutsideLimits = {
  serverTimeoutMs: 1_500,
  lookupTimeoutMs: 6_000,
  waitMs: 2_500,
  waitersMax: 1_000,
  lookupsMax: 64,
  queuedLookupsMax: 4_000,
  entriesMax: 20_000,
  ttlMin: 5,
  ttlMax: 86_400,
  nothingTtlMax: 300,
  refreshAfter: 0.8,
  staleMs: 3 * 86_400_000,
  staleTtl: 30,
  retryMinMs: 2_000,
  retryMaxMs: 60_000,
  warmNamesMax: 1_000,
};
