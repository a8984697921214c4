/** A stream of server-sent events. Proxies are not to hold back what is meant to be seen at once. */
export const followed = (body: AsyncIterable<string>) => ({
  type: "text/event-stream",
  headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
  body,
});
