import type { AnalyticsGroup } from "#model/events/analytics.ts";

/** The groups from which sums of a period are computed: requests by shared fields, threats, and page views by browser. */
export interface HttpParts {
  readonly requests: readonly AnalyticsGroup[];
  readonly threats: readonly AnalyticsGroup[];
  /** Page views by user agent. */
  readonly pages: readonly AnalyticsGroup[];
}

export type HttpSums = Readonly<Record<HttpNumber, number>> & Readonly<Record<HttpMap, readonly HttpMapEntry[]>>;
export type HttpMapEntry = Readonly<Record<string, string | number>>;

interface Part {
  /** The fields by which its groups must be distinguished. */
  readonly fields: readonly string[];
  readonly from: keyof HttpParts;
}

/** Cache statuses of responses from the cache, including revalidated ones. */
const FROM_CACHE: ReadonlySet<unknown> = new Set(["hit", "stale", "updating", "revalidated"]);
const isCached = ({ dimensions }: AnalyticsGroup): boolean => FROM_CACHE.has(dimensions["cacheStatus"]);
const isEncrypted = ({ dimensions }: AnalyticsGroup): boolean => dimensions["clientRequestScheme"] === "https";
function hasStatus(hundreds: number): (group: AnalyticsGroup) => boolean {
  return ({ dimensions }) => Math.floor(Number(dimensions["edgeResponseStatus"]) / 100) === hundreds;
}
/** A successful HTML response. */
const isPage = ({ dimensions }: AnalyticsGroup): boolean =>
  dimensions["edgeResponseContentTypeName"] === "text/html" && Math.floor(Number(dimensions["edgeResponseStatus"]) / 100) === 2;

interface NumberPart extends Part {
  readonly counts: "requests" | "bytes";
  readonly holds?: (group: AnalyticsGroup) => boolean;
}

export const HTTP_NUMBERS = {
  requests: { from: "requests", fields: [], counts: "requests" },
  bytes: { from: "requests", fields: [], counts: "bytes" },
  cachedRequests: { from: "requests", fields: ["cacheStatus"], counts: "requests", holds: isCached },
  cachedBytes: { from: "requests", fields: ["cacheStatus"], counts: "bytes", holds: isCached },
  encryptedRequests: { from: "requests", fields: ["clientRequestScheme"], counts: "requests", holds: isEncrypted },
  encryptedBytes: { from: "requests", fields: ["clientRequestScheme"], counts: "bytes", holds: isEncrypted },
  pageViews: { from: "requests", fields: ["edgeResponseContentTypeName", "edgeResponseStatus"], counts: "requests", holds: isPage },
  /** Requests that rules stopped. */
  threats: { from: "threats", fields: [], counts: "requests" },
  clientErrors: { from: "requests", fields: ["edgeResponseStatus"], counts: "requests", holds: hasStatus(4) },
  serverErrors: { from: "requests", fields: ["edgeResponseStatus"], counts: "requests", holds: hasStatus(5) },
} as const satisfies Readonly<Record<string, NumberPart>>;
export type HttpNumber = keyof typeof HTTP_NUMBERS;

/** Ratios to all requests or bytes, from 0 to 1. */
export const HTTP_OVERVIEW_RATIOS = {
  cachedRequests: { part: "cachedRequests", of: "requests" },
  cachedBytes: { part: "cachedBytes", of: "bytes" },
  encryptedRequests: { part: "encryptedRequests", of: "requests" },
  encryptedBytes: { part: "encryptedBytes", of: "bytes" },
  status4xx: { part: "clientErrors", of: "requests" },
  status5xx: { part: "serverErrors", of: "requests" },
} as const satisfies Readonly<Record<string, { readonly part: HttpNumber; readonly of: HttpNumber }>>;

/** The two sums of a ratio. */
export const ratioParts = (name: string): readonly HttpNumber[] =>
  Object.values(HTTP_OVERVIEW_RATIOS[name as keyof typeof HTTP_OVERVIEW_RATIOS]);

interface MapPart extends Part {
  /** Name of an entry's key. */
  readonly key: string;
  readonly keyOf: (value: string) => string;
  /** The numbers of an entry, and the groups that each counts. */
  readonly shows: Readonly<Record<string, { readonly from: keyof HttpParts; readonly counts: "requests" | "bytes" }>>;
}

const REQUESTS = { from: "requests", counts: "requests" } as const;
const TRAFFIC = { requests: REQUESTS, bytes: { from: "requests", counts: "bytes" } } as const;
const asIs = (value: string): string => value;
const byField = (field: string, key = field) => ({ from: "requests", fields: [field], key, keyOf: asIs, shows: TRAFFIC }) as const;

export const HTTP_MAPS = {
  responseStatusMap: byField("edgeResponseStatus"),
  contentTypeMap: byField("edgeResponseContentTypeName"),
  countryMap: { ...byField("clientCountryName"), shows: { ...TRAFFIC, threats: { from: "threats", counts: "requests" } } },
  clientHTTPVersionMap: byField("clientRequestHTTPProtocol", "clientHTTPProtocol"),
  clientSSLMap: byField("clientSSLProtocol"),
  cacheStatusMap: byField("cacheStatus"),
  browserMap: {
    from: "pages",
    fields: ["userAgent"],
    key: "uaBrowserFamily",
    keyOf: browserFamily,
    shows: { pageViews: { from: "pages", counts: "requests" } },
  },
  /** Classes of addresses are not known here, so all have the same class. */
  ipClassMap: { from: "requests", fields: [], key: "ipType", keyOf: () => "noRecord", shows: { requests: REQUESTS } },
  /** By the action that stopped them. */
  threatPathingMap: {
    from: "threats",
    fields: ["action"],
    key: "threatPathingName",
    keyOf: asIs,
    shows: { requests: { from: "threats", counts: "requests" } },
  },
} as const satisfies Readonly<Record<string, MapPart>>;
export type HttpMap = keyof typeof HTTP_MAPS;

const NUMBERS = Object.entries(HTTP_NUMBERS) as [HttpNumber, NumberPart][];
const MAPS = Object.entries(HTTP_MAPS) as [HttpMap, MapPart][];
/** Sums that totals show and can be ordered by: numbers, not maps. There, errors are listed by their statuses. */
export const HTTP_NUMBER_NAMES = NUMBERS.map(([name]) => name).filter((name) => name !== "clientErrors" && name !== "serverErrors");

/** The fields by which groups of one kind must be queried for the wanted sums. */
export function fieldsFor(kind: keyof HttpParts, wanted: ReadonlySet<string>): readonly string[] {
  const of = (parts: readonly (readonly [string, Part])[]): string[] =>
    parts.flatMap(([name, part]) => (wanted.has(name) && part.from === kind ? part.fields : []));
  // Threats by country are part of a map of requests.
  const threats = kind === "threats" && wanted.has("countryMap") ? ["clientCountryName"] : [];
  return [...new Set([...of(NUMBERS), ...of(MAPS), ...threats])];
}

export const needs = (kind: keyof HttpParts, wanted: ReadonlySet<string>): boolean =>
  fieldsFor(kind, wanted).length > 0 ||
  NUMBERS.some(([name, { from }]) => from === kind && wanted.has(name)) ||
  MAPS.some(([name, { from }]) => from === kind && wanted.has(name));

const amount = ({ count, measures: [bytes = 0] }: AnalyticsGroup, counts: "requests" | "bytes"): number =>
  counts === "requests" ? count : bytes;

/** Sums that are not wanted are 0 or empty. Each group is visited once per wanted sum. */
export function httpSums(parts: HttpParts, wanted: ReadonlySet<string>): HttpSums {
  const numbers = NUMBERS.map(([name, { from, counts, holds }]) => {
    let sum = 0;
    if (wanted.has(name)) for (const group of parts[from]) if (holds === undefined || holds(group)) sum += amount(group, counts);
    return [name, sum] as const;
  });
  const maps = MAPS.map(([name, part]) => [name, wanted.has(name) ? mapEntries(parts, part) : []] as const);
  return {
    ...(Object.fromEntries(numbers) as Record<HttpNumber, number>),
    ...(Object.fromEntries(maps) as Record<HttpMap, HttpMapEntry[]>),
  };
}

function mapEntries(parts: HttpParts, { from, fields: [field], key, keyOf, shows }: MapPart): HttpMapEntry[] {
  const entries = new Map<string, Record<string, string | number>>();
  const shown = Object.entries(shows);
  for (const kind of new Set([from, ...shown.map(([, { from: other }]) => other)])) {
    for (const group of parts[kind]) {
      const value = field === undefined ? "" : (group.dimensions[field] ?? "");
      const name = keyOf(String(value));
      let entry = entries.get(name);
      if (entry === undefined) {
        // Other kinds only add to existing entries.
        if (kind !== from) continue;
        // A status stays a number.
        entry = { [key]: typeof value === "number" ? value : name, ...Object.fromEntries(shown.map(([what]) => [what, 0])) };
        entries.set(name, entry);
      }
      for (const [what, { from: counted, counts }] of shown)
        if (counted === kind) entry[what] = Number(entry[what]) + amount(group, counts);
    }
  }
  const [first = ""] = Object.keys(shows);
  return [...entries.values()].toSorted((a, b) => Number(b[first]) - Number(a[first]));
}

/** Browser families by user agent; the first match counts, because most browsers also contain the names of others. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/bot\b|crawl|spider|slurp/i, "Bot"],
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b/, "Opera"],
  [/\bSamsungBrowser\//, "SamsungBrowser"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bMSIE |\bTrident\//, "InternetExplorer"],
  [/\bChrome\/|\bCriOS\/|\bChromium\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "Curl"],
];

function browserFamily(userAgent: string): string {
  return FAMILIES.find(([pattern]) => pattern.test(userAgent))?.[1] ?? "Unknown";
}
