import type { Page, PageRequest } from "#control/call.ts";
import { firewallPage } from "#control/previous-waf/firewall-page.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { CookieAttributes } from "#kernel/process/page-sighting.ts";
import type {
  PageConnection,
  PageCookie,
  PageCookieQuery,
  PageResourceQuery,
  PageScript,
  PageScriptDetails,
} from "#model/zones/page-shield.ts";
import type { Store } from "#store/database/store.ts";
import { pageResource, type PageResourceRow, pageResourcesOf } from "#store/page-shield/page-resources.ts";
import { versionsOf } from "./fetch-scripts.ts";

/** Lists of what pages of a zone had, the most recent first. Methods that take an id throw `not_found`. */
export interface ResourceLists {
  scripts(zoneId: string, query: PageResourceQuery, page: PageRequest): Promise<Page<PageScript>>;
  script(zoneId: string, id: string): Promise<PageScriptDetails>;
  connections(zoneId: string, query: PageResourceQuery, page: PageRequest): Promise<Page<PageConnection>>;
  connection(zoneId: string, id: string): Promise<PageConnection>;
  cookies(zoneId: string, query: PageCookieQuery, page: PageRequest): Promise<Page<PageCookie>>;
  cookie(zoneId: string, id: string): Promise<PageCookie>;
}

type Kind = PageResourceRow["kind"];

export function createResourceLists({ store, clock }: { readonly store: Store; readonly clock: Clock }): ResourceLists {
  const one = async (zoneId: string, kind: Kind, id: string): Promise<PageResourceRow> => {
    const row = await pageResource(store.read, zoneId, id);
    if (row?.kind !== kind) throw new PlatformError("not_found", { message: `No ${kind} has this identifier.` });
    return row;
  };
  const found = async (zoneId: string, kind: Kind, query: PageResourceQuery): Promise<readonly PageResourceRow[]> =>
    ordered(await pageResourcesOf(store.read, zoneId, kind), query).filter((row) => fits(row, query, clock.nowMs()));
  return {
    scripts: async (zoneId, query, page) => {
      const rows = await found(zoneId, "script", query);
      return firewallPage((query.exclude_duplicates === true ? withoutDuplicates(rows) : rows).map(scriptView), page);
    },
    script: async (zoneId, id) => {
      const row = await one(zoneId, "script", id);
      return { ...scriptView(row), versions: [...versionsOf(row)] };
    },
    connections: async (zoneId, query, page) => firewallPage((await found(zoneId, "connection", query)).map(resourceView), page),
    connection: async (zoneId, id) => resourceView(await one(zoneId, "connection", id)),
    cookies: async (zoneId, query, page) => {
      const rows = ordered(await pageResourcesOf(store.read, zoneId, "cookie"), query).filter((row) => isPlaced(row, query));
      return firewallPage(
        rows.map(cookieView).filter((cookie) => fitsCookie(cookie, query)),
        page,
      );
    },
    cookie: async (zoneId, id) => cookieView(await one(zoneId, "cookie", id)),
  };
}

const CDN_CGI = "/cdn-cgi/";

function resourceView({ id, name, host, first_page_url, page_urls, first_seen_at, last_seen_at }: PageResourceRow): PageConnection {
  return {
    ...{ id, url: name, host, url_contains_cdn_cgi_path: name.includes(CDN_CGI), added_at: first_seen_at, first_page_url },
    ...{ first_seen_at, last_seen_at, page_urls: JSON.parse(page_urls) as string[] },
  };
}

function scriptView(row: PageResourceRow): PageScript {
  const [newest] = versionsOf(row);
  return { ...resourceView(row), hash: newest?.hash ?? null, fetched_at: newest?.fetched_at ?? null };
}

function cookieView({ id, name, host, page_urls, first_seen_at, last_seen_at, attributes }: PageResourceRow): PageCookie {
  const given = JSON.parse(attributes) as CookieAttributes;
  return {
    ...{ id, type: "first_party", name, host, first_seen_at, last_seen_at, page_urls: JSON.parse(page_urls) as string[] },
    ...(given.domain === undefined ? {} : { domain_attribute: given.domain }),
    ...(given.path === undefined ? {} : { path_attribute: given.path }),
    ...(given.expires === undefined ? {} : { expires_attribute: given.expires }),
    ...(given.max_age === undefined ? {} : { max_age_attribute: given.max_age }),
    ...{ secure_attribute: given.secure, http_only_attribute: given.http_only },
    ...(given.same_site === undefined ? {} : { same_site_attribute: given.same_site }),
  };
}

type Order = Pick<PageResourceQuery, "order_by" | "direction" | "hosts" | "page_url">;

function ordered(
  rows: readonly PageResourceRow[],
  { order_by: by = "last_seen_at", direction = "desc" }: Order,
): readonly PageResourceRow[] {
  const sign = direction === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => (a[by] === b[by] ? (a.id < b.id ? -1 : 1) : a[by] < b[by] ? -sign : sign));
}

const DAY_MS = 86_400_000;
const ACTIVE_DAYS = 7;
const INFREQUENT_DAYS = 30;

function statusOf({ last_seen_at }: PageResourceRow, nowMs: number): string {
  const days = (nowMs - Date.parse(last_seen_at)) / DAY_MS;
  return days <= ACTIVE_DAYS ? "active" : days <= INFREQUENT_DAYS ? "infrequent" : "inactive";
}

function fits(row: PageResourceRow, query: PageResourceQuery, nowMs: number): boolean {
  const { urls, exclude_urls: excluded, exclude_cdn_cgi: isWithout = true, status = "active" } = query;
  const holds = (part: string): boolean => row.name.includes(decoded(part));
  return (
    isPlaced(row, query) &&
    (urls === undefined || urls.split(",").some(holds)) &&
    (excluded === undefined || !excluded.split(",").some(holds)) &&
    !(isWithout && row.name.includes(CDN_CGI)) &&
    status.split(",").includes(statusOf(row, nowMs))
  );
}

const isPlaced = ({ host, page_urls }: PageResourceRow, { hosts, page_url }: Order): boolean =>
  (hosts === undefined || hosts.split(",").some((pattern) => fitsPattern(host, decoded(pattern)))) &&
  (page_url === undefined ||
    page_url.split(",").some((pattern) => (JSON.parse(page_urls) as string[]).some((page) => fitsPattern(page, decoded(pattern)))));

const fitsCookie = (cookie: PageCookie, query: PageCookieQuery): boolean =>
  (query.name === undefined || fitsPattern(cookie.name, query.name)) &&
  (query.secure ?? cookie.secure_attribute) === cookie.secure_attribute &&
  (query.http_only ?? cookie.http_only_attribute) === cookie.http_only_attribute &&
  (query.same_site ?? cookie.same_site_attribute) === cookie.same_site_attribute &&
  (query.type ?? cookie.type) === cookie.type &&
  (query.path ?? cookie.path_attribute) === cookie.path_attribute &&
  (query.domain ?? cookie.domain_attribute) === cookie.domain_attribute;

/** The newest of each content and host; scripts that were never fetched stay. */
function withoutDuplicates(rows: readonly PageResourceRow[]): readonly PageResourceRow[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const hash = versionsOf(row)[0]?.hash;
    const key = `${row.host} ${hash}`;
    if (hash !== undefined && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** `*` at the start or the end of the pattern stands for any text. */
function fitsPattern(text: string, pattern: string): boolean {
  const [open, close] = [pattern.startsWith("*"), pattern.length > 1 && pattern.endsWith("*")];
  const part = pattern.slice(open ? 1 : 0, close ? -1 : undefined);
  if (open && close) return text.includes(part);
  return open ? text.endsWith(part) : close ? text.startsWith(part) : text === part;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
