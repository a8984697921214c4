/**
 * Lower-case names of fields in which proxies report their client and its request. A server behind us would trust them,
 * or receive data about an unrelated client.
 */
export const FORWARDING_FIELDS: readonly string[] = [
  "forwarded",
  "true-client-ip",
  "x-client-ip",
  "x-real-ip",
  ...["for", "host", "port", "prefix", "proto", "protocol", "scheme", "server", "ssl"].map((word) => `x-forwarded-${word}`),
];
