/** Attempts after which an order is given up (custom-hostnames.md §1). */
export const TRIES_MAX = 119;

const FIRST_SECONDS = 60;
const SECONDS_MAX = 14_400;
const STEEPER_FROM = 10;

/** Milliseconds to wait after so many attempts: a minute at first, four hours at last. */
export function retryDelayMs(tries: number): number {
  const factor = tries < STEEPER_FROM ? 1.05 : 1.15;
  return Math.min(Math.floor(FIRST_SECONDS * factor ** tries), SECONDS_MAX) * 1000;
}
