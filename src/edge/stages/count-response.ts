import { beginCharging, endCharging, isStepsSpent } from "#rules/budget.ts";
import { bytesToRead } from "#rules/body/request-body.ts";
import type { ResponseView } from "#rules/views.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/** These responses did not come from the origin. */
const STORED: ReadonlySet<string> = new Set(["HIT", "STALE", "UPDATING"]);

export const isFromOrigin = ({ cacheStatus }: Exchange): boolean => cacheStatus === null || !STORED.has(cacheStatus);

/** Counts the response for rate limits that wait for it, once. */
export function countResponse(exchange: Exchange, response: ResponseView, fromOrigin: boolean): void {
  for (const later of exchange.later.splice(0)) {
    beginCharging(exchange, "response", bytesToRead(exchange));
    try {
      later.count(exchange, response, fromOrigin);
    } catch (error) {
      if (!isStepsSpent(error)) throw error;
      exchange.exhausted ??= later.exhausted;
    } finally {
      endCharging(exchange);
    }
  }
}
