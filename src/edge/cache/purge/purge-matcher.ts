import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import { normalizedPattern, normalizedPrefix } from "#rules/expression/request/normalize-path.ts";
import type { PurgeEntry, PurgeSelector } from "#snapshot/entries.ts";
import { sortedQuery } from "#edge/cache/key/primary-key.ts";
import { ANY_URL } from "#edge/cache/store/original-urls.ts";
import type { RequestKey } from "#edge/cache/store/stored-response.ts";

/** The parts of a response that purges compare; tags are null while unknown. */
export interface Purgeable {
  readonly asked: RequestKey;
  readonly tags: readonly string[] | null;
}

export type PurgeTest = (response: Purgeable) => boolean;

/** Settings of a zone that say which URLs are the same. */
export type PurgeSettings = Pick<EdgeSettings, "cache_level" | "url_normalization">;

/** Tests whether a purge of the zone came after the response was requested. */
export function purgeTest({ count, recent }: PurgeEntry, settings: PurgeSettings): PurgeTest {
  const tests = recent.map((selector) => TESTS[selector.by](selector, settings));
  return (response) => {
    const later = count - response.asked.purges;
    if (later <= 0) return false;
    // The entry lists only recent purges; an older one may have purged anything.
    return later > tests.length || tests.slice(-later).some((test) => test(response));
  };
}

const NONE: readonly string[] = [];

const TESTS: Readonly<Record<PurgeSelector["by"], (selector: PurgeSelector, settings: PurgeSettings) => PurgeTest>> = {
  files: ({ values: given }, { cache_level: level, url_normalization: normalization }) => {
    const values = withNormal(given, /^[a-z]+:\/\/[^/?]*/, (target) => normalizedPattern(target, normalization));
    const urls = new Set(values.flatMap((url) => urlForms(url, level)));
    const bases = new Set(values.map((url) => url.split("?", 1)[0]!));
    const origins = new Set(values.map((url) => /^[a-z]+:\/\/[^/?]*/.exec(url)?.[0]));
    return ({ asked: { scheme, host, port, path, query, isQueryRuled, received = NONE } }) => {
      // A URL without a port means the port that visitors use.
      const isNamed = (known: ReadonlySet<string | undefined>, rest: string): boolean =>
        known.has(`${scheme}://${host}${rest}`) || (port !== null && known.has(`${scheme}://${host}:${port}${rest}`));
      // A rule decides which parameters are in the key, so the purge ignores the query.
      if (isQueryRuled === true ? isNamed(bases, path) : isNamed(urls, query === "" ? path : `${path}?${query}`)) return true;
      return received.some((url) =>
        url === ANY_URL ? isNamed(origins, "") : isNamed(urls, url) || (isQueryRuled === true && isNamed(bases, url.split("?", 1)[0]!)),
      );
    };
  },
  tags: ({ values }) => {
    const tags = new Set(values);
    return (response) => response.tags === null || response.tags.some((tag) => tags.has(tag));
  },
  hosts: ({ values }) => {
    const hosts = new Set(values);
    return ({ asked }) => hosts.has(asked.host);
  },
  prefixes: ({ values: given }, { url_normalization: normalization }) => {
    const values = withNormal(given, /^[^/]*/, (prefix) => normalizedPrefix(prefix, normalization));
    return ({ asked: { host, path, received = NONE } }) =>
      values.some((prefix) =>
        [path, ...received].some((known) => (known === ANY_URL ? prefix.split("/", 1)[0] === host : `${host}${known}`.startsWith(prefix))),
      );
  },
};

/** The URLs as named, and in the form of paths that rules see, under which the cache also knows its responses. */
function withNormal(urls: readonly string[], base: RegExp, normal: (target: string) => string): readonly string[] {
  const forms = new Set(urls);
  for (const url of urls) {
    const host = base.exec(url)?.[0] ?? "";
    forms.add(host + normal(url.slice(host.length)));
  }
  return [...forms];
}

/** The forms that a URL can have in the cache, depending on cache level and query sorting. */
function urlForms(url: string, level: EdgeSettings["cache_level"]): readonly string[] {
  const question = url.indexOf("?");
  if (question < 0) return [url];
  const base = url.slice(0, question);
  const query = url.slice(question + 1);
  if (query === "" || level === "simplified") return [base];
  return [url, `${base}?${sortedQuery(query)}`];
}
