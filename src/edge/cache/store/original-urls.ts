import { joinUri } from "#rules/expression/request/request-parts.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { RequestKey } from "./stored-response.ts";

/** Stands for any URL: some URLs that led to a response are unknown. */
export const ANY_URL = "*";

const URLS_MAX = 16;

/** Path and query as the visitor sent them; null if no rule rewrote them and the origin gets them as they are. */
const receivedUrl = ({ received_path: path, received_query: query = "", origin_path, query: sent }: Exchange): string | null =>
  path === undefined || (path === origin_path && query === sent) ? null : joinUri(path, query);

/** The form of the URL that rules see; null if the origin gets the same. */
const normalizedUrl = ({ path, origin_path, query }: Exchange): string | null => (path === origin_path ? null : joinUri(path, query));

/** The received URLs of a new request and of the stale response that it may revalidate. */
export function receivedUrls(exchange: Exchange, stale: RequestKey | undefined): string[] | undefined {
  const urls = new Set(stale?.received);
  for (const url of [receivedUrl(exchange), normalizedUrl(exchange)]) if (url !== null) urls.add(url);
  return urls.size === 0 ? undefined : bounded([...urls]);
}

/** Adds the URL of another request that this response answers, because a purge names the URL that visitors use. */
export function noteReceived(asked: RequestKey, exchange: Exchange): void {
  const url = receivedUrl(exchange);
  if (url === null || asked.received?.includes(url) === true) return;
  asked.received = bounded([...(asked.received ?? []), url]);
}

const bounded = (urls: string[]): string[] => (urls.length <= URLS_MAX ? urls : [ANY_URL]);
