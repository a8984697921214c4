/** The browser's clock: the one place that reads it. Milliseconds since the Unix epoch. */
export const nowMs = (): number => Date.now();

/** An RFC 3339 time so many seconds ago. */
export const secondsAgo = (seconds: number): string => new Date(nowMs() - seconds * 1000).toISOString();
