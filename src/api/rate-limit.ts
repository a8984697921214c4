import type { RateLimitConfig, RateLimitState } from "#kernel/net/rate-limiter.ts";

/** The two forms that clients read: the service's own (contract.md §1) and the IETF draft's. */
export const rateHeaders = (standing: RateLimitState, periodSeconds: number): Readonly<Record<string, string>> => ({
  "x-ratelimit-limit": String(standing.limit),
  "x-ratelimit-remaining": String(standing.remaining),
  "x-ratelimit-reset": new Date(standing.resetMs).toUTCString(),
  ratelimit: `"default";r=${standing.remaining};t=${standing.resetSeconds}`,
  "ratelimit-policy": `"default";q=${standing.limit};w=${periodSeconds}`,
});

export const rateMessage = (config: RateLimitConfig): string =>
  `More than ${config.requests} requests per ${config.periodSeconds} seconds reached. Please wait and consider throttling your request speed`;
