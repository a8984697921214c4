/** A stream of server-sent events. Proxies must not buffer events that should be visible at once. */
export const followed = (body: AsyncIterableIterator<string>) => ({
  type: "text/event-stream",
  headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
  body,
});

/**
 * The query with the event after which a stream continues. A returning client requests the same address as before, so the
 * last seen event in its header is newer than the one in the address (WHATWG HTML §9.2.3).
 */
export const resumed = <Query extends object>(query: Query, lastSeen: string | undefined): Query =>
  lastSeen === undefined ? query : { ...query, last_event_id: lastSeen };
