import type { Exchange } from "#edge/exchange/exchange.ts";
import type { RequestKey } from "./stored-response.ts";

/** Stands for any URL: some URLs that led to a response are unknown. */
export const ANY_URL = "*";

const URLS_MAX = 16;

/** Path and query as the visitor sent them; null if no rule rewrote them. */
const receivedUrl = ({ received_path: path, received_query: query }: Exchange): string | null =>
  path === undefined ? null : query === undefined || query === "" ? path : `${path}?${query}`;

/** The received URLs of a new request and of the stale response that it may revalidate. */
export function receivedUrls(exchange: Exchange, stale: RequestKey | undefined): string[] | undefined {
  const url = receivedUrl(exchange);
  const urls = new Set(stale?.received);
  if (url !== null) urls.add(url);
  return urls.size === 0 ? undefined : bounded([...urls]);
}

/** Adds the URL of another request that this response answers, because a purge names the URL that visitors use. */
export function noteReceived(asked: RequestKey, exchange: Exchange): void {
  const url = receivedUrl(exchange);
  if (url === null || asked.received?.includes(url) === true) return;
  asked.received = bounded([...(asked.received ?? []), url]);
}

const bounded = (urls: string[]): string[] => (urls.length <= URLS_MAX ? urls : [ANY_URL]);
