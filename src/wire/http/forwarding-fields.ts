/**
 * Fields in which proxies tell who their client is and what it asked for, by lower-case name. A server behind us believes them, or
 * learns from them about a client that it has nothing to do with.
 */
export const FORWARDING_FIELDS: readonly string[] = [
  "forwarded",
  "true-client-ip",
  "x-client-ip",
  "x-real-ip",
  ...["for", "host", "port", "prefix", "proto", "protocol", "scheme", "server", "ssl"].map((word) => `x-forwarded-${word}`),
];
