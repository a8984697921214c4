/** A stream of server-sent events. Proxies are not to hold back what is meant to be seen at once. */
export const followed = (body: AsyncIterable<string>) => ({
  type: "text/event-stream",
  headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
  body,
});

/**
 * What a stream goes on behind. A client that comes back asks the same address as before, so what its header says that it saw last is
 * newer than what the address says (WHATWG HTML §9.2.3).
 */
export const resumed = <Query extends object>(query: Query, lastSeen: string | undefined): Query =>
  lastSeen === undefined ? query : { ...query, last_event_id: lastSeen };
