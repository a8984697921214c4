import type { ResponseView } from "#rules/views.ts";
import type { Exchange } from "../exchange.ts";

/** Nobody asked the origin for these. */
const STORED: ReadonlySet<string> = new Set(["HIT", "STALE", "UPDATING"]);

export const isFromOrigin = ({ cacheStatus }: Exchange): boolean => cacheStatus === null || !STORED.has(cacheStatus);

/** What rate limits wait for the response with, once. */
export function countLater(exchange: Exchange, response: ResponseView, fromOrigin: boolean): void {
  for (const later of exchange.later.splice(0)) later.count(exchange, response, fromOrigin);
}
