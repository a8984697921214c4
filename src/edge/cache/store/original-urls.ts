import type { Exchange } from "#edge/exchange/exchange.ts";
import type { Asked } from "./stored-response.ts";

/** Stands for any URL: some of those that led to a response are not known. */
export const ANY_URL = "*";

const URLS_MAX = 16;

/** Path and query with which a visitor came; null where no rule has rewritten them. */
const receivedUrl = ({ received_path: path, received_query: query }: Exchange): string | null =>
  path === undefined ? null : query === undefined || query === "" ? path : `${path}?${query}`;

/** Those of a request that asks for something anew, and of what it may find confirmed. */
export function receivedUrls(exchange: Exchange, stale: Asked | undefined): string[] | undefined {
  const url = receivedUrl(exchange);
  const urls = new Set(stale?.received);
  if (url !== null) urls.add(url);
  return urls.size === 0 ? undefined : bounded([...urls]);
}

/** Another request is answered with what this one brought. A visitor knows it by his own URL, and purges it by that. */
export function noteReceived(asked: Asked, exchange: Exchange): void {
  const url = receivedUrl(exchange);
  if (url === null || asked.received?.includes(url) === true) return;
  asked.received = bounded([...(asked.received ?? []), url]);
}

const bounded = (urls: string[]): string[] => (urls.length <= URLS_MAX ? urls : [ANY_URL]);
