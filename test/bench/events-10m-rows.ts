import type { RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import { testRequestRow, testSecurityRow } from "#events/testing/rows.ts";

// The rows of `events-10m`: requests of a day to many sites, of which a tenth has half of the traffic, and events of many rules.

/** `EVENTS_ROWS=1000000` for a short run. */
export const ROWS = Number(process.env["EVENTS_ROWS"] ?? 10_000_000);
/** One of so many rows is a security event, the others are requests. */
export const EVENT_EVERY = 5;
export const DAY_MS = 86_400_000;
export const START_MS = 20_000 * DAY_MS;
export const ROWS_AT_ONCE = 1_000;
export const ACCOUNT = "a".repeat(32);
const ZONES = 50;
const RULES = 200;
const AGENTS = 997;

const texts = (count: number, textAt: (n: number) => string): readonly string[] => Array.from({ length: count }, (_, n) => textAt(n));
const zones = texts(ZONES, (n) => `${n}`.padStart(32, "0"));
const hosts = texts(ZONES * 3, (n) => `www${n % 3}.example-${n % ZONES}.com`);
const paths = texts(5000, (n) => `/articles/${n}/page`);
const queries = texts(10, (n) => `page=${n}`);
const agents = texts(AGENTS, (n) => `Mozilla/5.0 (X11; Linux x86_64; rv:${n % 100}.0) Gecko/20100101 Firefox/${(n * 13) % 500}.0`);
const ruleIds = texts(RULES, (n) => `${n}`.padStart(32, "f"));
const rulesetIds = texts(10, (n) => `${n}`.padStart(32, "e"));
const descriptions = texts(RULES, (n) => `Rule number ${n} of the set`);

const REQUEST: RequestRow = { ...testRequestRow(), account_id: ACCOUNT };
const EVENT: SecurityEventRow = { ...testSecurityRow(), account_id: ACCOUNT, service: "WAF", status: 403, matches: [] };

const zoneAt = (n: number): string => zones[n % 2 === 0 ? (n >> 1) % 5 : ((n * 7) >> 1) % ZONES] as string;
const rayAt = (n: number): string => n.toString(16).padStart(16, "0");
const timeAt = (n: number): number => START_MS + Math.floor((n / ROWS) * DAY_MS);
const clientAt = (n: number): string => `198.${(n * 7) & 255}.${(n >> 4) & 255}.${n & 255}`;

export const requestAt = (n: number): RequestRow => ({
  ...REQUEST,
  ray_id: rayAt(n),
  at_ms: timeAt(n),
  zone_id: zoneAt(n),
  client_ip: clientAt(n),
  host: hosts[n % hosts.length] as string,
  path: paths[(n * 17) % paths.length] as string,
  query: n % 4 === 0 ? (queries[n % queries.length] as string) : "",
  user_agent: agents[n % AGENTS] as string,
  status: n % 20 === 0 ? 404 : 200,
  bytes_out: n % 10_000,
  duration_ms: (n % 977) / 7,
  cache_status: n % 3 === 0 ? "HIT" : "MISS",
});

export function eventAt(n: number): SecurityEventRow {
  const rule = (n * 31) % RULES;
  return {
    ...EVENT,
    id: `01HF${n.toString(32).toUpperCase().padStart(22, "0")}`,
    ray_id: rayAt(n),
    at_ms: timeAt(n),
    zone_id: zoneAt(n),
    client_ip: clientAt(n),
    host: hosts[n % hosts.length] as string,
    path: paths[(n * 17) % paths.length] as string,
    query: n % 4 === 0 ? (queries[n % queries.length] as string) : "",
    user_agent: agents[n % AGENTS] as string,
    rule_id: ruleIds[rule] as string,
    ruleset_id: rulesetIds[rule % 10] as string,
    rule_description: descriptions[rule] as string,
    action: rule % 3 === 0 ? "block" : "log",
  };
}
