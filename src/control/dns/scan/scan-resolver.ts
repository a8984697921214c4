import { promises as dns } from "node:dns";
import type { ScanType } from "./scan-questions.ts";
import type { DnsRecordWrite } from "#model/dns/dns-record.ts";

/**
 * The records of a name and type, each as a write without its name. Empty if none exist or no response arrives in time.
 * Never rejects.
 */
export type QueryResolver = (name: string, type: ScanType) => Promise<readonly DnsRecordWrite[]>;

const TIMEOUT_MS = 1_500;
const TRIES = 2;
/** Limits in seconds that every plan allows. */
const TTL_MIN = 60;
const TTL_MAX = 86_400;
const ANSWERS_MAX = 100;

/** `servers`: addresses with or without a port; empty: the system's. */
export function createScanResolver(servers: readonly string[]): QueryResolver {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return async (name, type) => {
    try {
      return (await LOOKUPS[type](resolver, name)).slice(0, ANSWERS_MAX).map((found) => ({ type, ...found }));
    } catch {
      // For a scan, a negative answer and a failure are the same.
      return [];
    }
  };
}

type Lookup = (resolver: dns.Resolver, name: string) => Promise<readonly DnsRecordWrite[]>;

const addresses = (found: readonly { readonly address: string; readonly ttl: number }[]): readonly DnsRecordWrite[] =>
  found.map(({ address, ttl }) => ({ content: address, ttl: Math.min(Math.max(ttl, TTL_MIN), TTL_MAX) }));

/** The system's library returns TTLs of addresses only; other records get "automatic". */
const LOOKUPS: Readonly<Record<ScanType, Lookup>> = {
  A: async (resolver, name) => addresses(await resolver.resolve4(name, { ttl: true })),
  AAAA: async (resolver, name) => addresses(await resolver.resolve6(name, { ttl: true })),
  CNAME: async (resolver, name) => (await resolver.resolveCname(name)).map((target) => ({ content: target })),
  MX: async (resolver, name) => (await resolver.resolveMx(name)).map(({ exchange, priority }) => ({ content: exchange, priority })),
  TXT: async (resolver, name) => (await resolver.resolveTxt(name)).map((strings) => ({ content: strings.map(quoted).join(" ") })),
  CAA: async (resolver, name) => (await resolver.resolveCaa(name)).flatMap(caa),
  SRV: async (resolver, name) =>
    (await resolver.resolveSrv(name)).map(({ priority, weight, port, name: target }) => ({ data: { priority, weight, port, target } })),
};

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** The library returns each property as a member with the tag as its name. */
function caa({ critical, ...properties }: { readonly critical: number }): readonly DnsRecordWrite[] {
  return Object.entries(properties)
    .filter(([tag, value]) => tag !== "type" && typeof value === "string")
    .map(([tag, value]) => ({ data: { flags: critical, tag, value } }));
}
