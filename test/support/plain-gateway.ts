/** Required settings of every gateway, so that it keeps logs and nothing else. */
export const PLAIN_GATEWAY = {
  cache_invalidate_on_update: true,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
