import { joinedText } from "#model/dns/dns-text.ts";
import { promises as dns } from "node:dns";
import { answersItself, type HostedName, hostedName } from "#store/zones/local-names.ts";
import type { Store } from "#store/database/store.ts";

/** The records of a name and type, or the reason of a failed lookup. */
export type DnsCheckResult = { readonly found: readonly string[] } | { readonly failed: string };

/** DNS from the viewpoint of an account whose names point elsewhere (store/zones/local-names.ts). */
export type HostnameDns = (viewerAccountId: string) => NamesOfHostnames;

/** Lookups for custom hostnames. None of them rejects. */
export interface NamesOfHostnames {
  /** The target of the name's CNAME: one or none. */
  cname(name: string): Promise<DnsCheckResult>;
  /** IPv4 and IPv6 addresses, following aliases. */
  addresses(name: string): Promise<DnsCheckResult>;
  /** TXT records, each with its strings joined. */
  txt(name: string): Promise<DnsCheckResult>;
  /** The hosted zone that answers for the name, and its serial; null if it is hosted elsewhere. */
  home(name: string): Promise<HostingZone | null>;
  /** The account whose zone contains the name, even if another server answers for it; null if no account has such a zone. */
  accountOf(name: string): Promise<string | null>;
}

export interface HostingZone {
  readonly zone_id: string;
  readonly account_id: string;
  readonly serial: number;
}

type Type = "CNAME" | "A" | "AAAA" | "TXT";

const TIMEOUT_MS = 1_200;
const TRIES = 1;
const ANSWERS_MAX = 50;
const CHAIN_LENGTH_MAX = 8;
/** Codes of negative answers: the name or the type does not exist. */
const NOTHING = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Names in hosted zones that the account relies on are answered from the database, which is ahead of the public DNS;
 * others by the operator's resolvers, or the system's by default.
 */
export function createHostnameDns({ store, resolvers }: { readonly store: Store; readonly resolvers: readonly string[] }): HostnameDns {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (resolvers.length > 0) resolver.setServers([...resolvers]);

  const outside = async (name: string, type: Type): Promise<DnsCheckResult> => {
    try {
      return { found: (await ASK[type](resolver, name)).slice(0, ANSWERS_MAX).map((text) => (type === "TXT" ? text : canonical(text))) };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      return NOTHING.has(code) ? { found: [] } : { failed: `${name}: ${code || "no answer"}` };
    }
  };
  /** Follows aliases in hosted zones; a resolver follows the rest itself. */
  const ask = async (viewer: string, name: string, type: Type): Promise<DnsCheckResult> => {
    let at = name;
    let pointing = viewer;
    for (let length = 0; length < CHAIN_LENGTH_MAX; length++) {
      const hosted = await hostedName(store.read, at, pointing);
      if (!answersItself(hosted)) return outside(at, type);
      pointing = hosted.zone.account_id;
      const found = contentsOf(hosted, type);
      const alias = type === "CNAME" || found.length > 0 ? undefined : contentsOf(hosted, "CNAME")[0];
      if (alias === undefined) return { found };
      at = alias;
    }
    return { found: [] };
  };

  return (viewer) => ({
    cname: (name) => ask(viewer, name, "CNAME"),
    addresses: async (name) => {
      const [v4, v6] = await Promise.all([ask(viewer, name, "A"), ask(viewer, name, "AAAA")]);
      if ("found" in v4 && "found" in v6) return { found: [...v4.found, ...v6.found] };
      // If one family fails, the addresses of the other are enough.
      const one = [v4, v6].find((looked) => "found" in looked && looked.found.length > 0);
      return one ?? ("failed" in v4 ? v4 : v6);
    },
    txt: (name) => ask(viewer, name, "TXT"),
    home: async (name) => {
      const hosted = await hostedName(store.read, name, viewer);
      return answersItself(hosted) ? { zone_id: hosted.zone.id, account_id: hosted.zone.account_id, serial: hosted.zone.serial } : null;
    },
    accountOf: async (name) => (await hostedName(store.read, name, viewer))?.zone.account_id ?? null,
  });
}

const contentsOf = ({ records }: HostedName, type: Type): readonly string[] =>
  records.filter((record) => record.type === type).map(({ content }) => (type === "TXT" ? joinedText(content) : canonical(content)));

const canonical = (name: string): string => name.toLowerCase().replace(/\.$/, "");

const ASK: Readonly<Record<Type, (resolver: dns.Resolver, name: string) => Promise<readonly string[]>>> = {
  CNAME: (resolver, name) => resolver.resolveCname(name),
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  TXT: async (resolver, name) => (await resolver.resolveTxt(name)).map((strings) => strings.join("")),
};
