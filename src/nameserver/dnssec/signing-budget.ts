import type { Clock } from "#kernel/clock.ts";

/** The client that causes signatures. */
export interface SigningClient {
  readonly address: Uint8Array;
  /** The client has proved its address: it used TCP, or sent a valid server cookie. */
  readonly isProven: boolean;
}

/**
 * Limits how much clients can make the server sign: the number of names that do not exist is unlimited, and a signature
 * takes about 30 µs.
 */
export interface SigningBudget {
  /** Whether the client's budget allows so many more signatures; if so, takes them from it. */
  take(client: SigningClient, signatures: number): boolean;
}

export interface SigningLimits {
  /** Signatures per second and network: an IPv4 /24 or an IPv6 /56. */
  readonly perNetwork: number;
  /** Signatures per second of one worker in total. */
  readonly total: number;
  /** Networks with a separate budget; the least recently seen one is forgotten. */
  readonly networksMax: number;
}

export const SIGNING_LIMITS: SigningLimits = { perNetwork: 500, total: 5000, networksMax: 16_384 };

/** Seconds of unused budget that a network may save up. */
const BURST_SECONDS = 2;
/** Share of the total budget that clients with unproven addresses cannot use. */
const RESERVED_SHARE = 0.5;

interface Bucket {
  tokens: number;
  atMs: number;
}

export function createSigningBudget({
  clock,
  limits = SIGNING_LIMITS,
}: {
  readonly clock: Clock;
  readonly limits?: SigningLimits;
}): SigningBudget {
  const networks = new Map<string, Bucket>();
  const full = (perSecond: number): Bucket => ({ tokens: perSecond * BURST_SECONDS, atMs: clock.monotonicMs() });
  const all = full(limits.total);

  const networkOf = (client: SigningClient): Bucket => {
    const bytes = client.address.length === 4 ? 3 : 7;
    const key = Buffer.from(client.address.subarray(0, bytes)).toString("latin1");
    const bucket = networks.get(key) ?? full(limits.perNetwork);
    networks.delete(key);
    const oldest = networks.size >= limits.networksMax ? networks.keys().next().value : undefined;
    if (oldest !== undefined) networks.delete(oldest);
    networks.set(key, bucket);
    return bucket;
  };

  return {
    take: (client, signatures) => {
      if (signatures === 0) return true;
      const nowMs = clock.monotonicMs();
      const left = client.isProven ? 0 : RESERVED_SHARE;
      const network = networkOf(client);
      refill(all, limits.total, nowMs);
      refill(network, limits.perNetwork, nowMs);
      const allowed =
        network.tokens - signatures >= left * limits.perNetwork * BURST_SECONDS &&
        all.tokens - signatures >= left * limits.total * BURST_SECONDS;
      if (!allowed) return false;
      network.tokens -= signatures;
      all.tokens -= signatures;
      return true;
    },
  };
}

function refill(bucket: Bucket, perSecond: number, nowMs: number): void {
  const elapsedMs = nowMs - bucket.atMs;
  bucket.tokens = Math.min(perSecond * BURST_SECONDS, bucket.tokens + (elapsedMs * perSecond) / 1000);
  bucket.atMs = nowMs;
}
