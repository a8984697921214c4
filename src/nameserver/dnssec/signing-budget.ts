import type { Clock } from "#kernel/clock.ts";

/** Who signatures are made for. */
export interface SigningClient {
  readonly address: Uint8Array;
  /** The address is the client's own: it came by TCP, or with a cookie of ours. */
  readonly isProven: boolean;
}

/** Bounds what clients can make the server sign: names that do not exist have no end, and a signature costs some 30 µs. */
export interface SigningBudget {
  /** Whether so many signatures may be made for the client now; if so, they are taken from its budget. */
  take(client: SigningClient, signatures: number): boolean;
}

export interface SigningLimits {
  /** Signatures a second for one network: an IPv4 /24, an IPv6 /56. */
  readonly perNetwork: number;
  /** Signatures a second for all together, in one worker. */
  readonly total: number;
  /** Networks that are told apart; the one that was heard of least recently is forgotten. */
  readonly networksMax: number;
}

export const SIGNING_LIMITS: SigningLimits = { perNetwork: 500, total: 5000, networksMax: 16_384 };

/** What may be saved up, in seconds. */
const BURST_SECONDS = 2;
/** Addresses that may be forged leave this share to those that are not. */
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
