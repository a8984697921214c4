/** Required settings of every gateway, so that it only stores logs. */
export const PLAIN_GATEWAY = {
  cache_invalidate_on_update: true,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
