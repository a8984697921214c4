import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import { RCODE } from "#wire/dns/codes.ts";
import { type Transport, TRANSPORTS } from "./client.ts";
import { DROP, TRUNCATE } from "#nameserver/limits/rate-limit.ts";

/** The nameserver's message counters. Two calls with one registry return the same metrics. */
export interface Counters {
  readonly queries: Readonly<Record<Transport, Metric>>;
  readonly dropped: Metric;
  readonly malformed: Metric;
  readonly internalErrors: Metric;
  readonly cacheHits: Metric;
  /** Responses that rate limiting dropped or truncated. */
  readonly limited: Readonly<Record<typeof DROP | typeof TRUNCATE, Metric>>;
  readonly signingLimited: Metric;
  /** Counts a response by its RCODE, including the upper bits from OPT, and by whether it was truncated. */
  readonly responses: (rcode: number, truncated: boolean) => void;
}

const RCODE_MAX = Math.max(...Object.values(RCODE));

export function createCounters(metrics: MetricRegistry): Counters {
  const queries = (transport: Transport): Metric => metrics.counter("selvedge_dns_queries_total", "DNS messages received", { transport });
  const byRcode = Array.from({ length: RCODE_MAX + 1 }, (_, code) => {
    const rcode = Object.entries(RCODE).find(([, value]) => value === code)?.[0] ?? String(code);
    return metrics.counter("selvedge_dns_responses_total", "DNS responses sent, by response code", { rcode });
  });
  const limited = (action: string): Metric =>
    metrics.counter("selvedge_dns_rate_limited_total", "DNS responses over the rate limit of the client network", { action });
  const truncated = metrics.counter("selvedge_dns_truncated_total", "Truncated DNS responses");
  return {
    queries: Object.fromEntries(TRANSPORTS.map((transport) => [transport, queries(transport)])) as Record<Transport, Metric>,
    dropped: metrics.counter("selvedge_dns_dropped_total", "DNS messages ignored because they were too short or were responses"),
    malformed: metrics.counter("selvedge_dns_malformed_total", "DNS messages answered with FORMERR because they could not be read"),
    internalErrors: metrics.counter(
      "selvedge_dns_internal_errors_total",
      "DNS messages answered with SERVFAIL because of an internal error",
    ),
    limited: { [DROP]: limited("dropped"), [TRUNCATE]: limited("truncated") },
    signingLimited: metrics.counter(
      "selvedge_dns_signing_limited_total",
      "DNS queries answered without signatures because the client network reached its signing limit",
    ),
    cacheHits: metrics.counter("selvedge_dns_cache_hits_total", "DNS responses served from the answer cache"),
    responses: (rcode, isTruncated) => {
      (byRcode[rcode] as Metric).value += 1;
      if (isTruncated) truncated.value += 1;
    },
  };
}
