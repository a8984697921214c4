import { isIP } from "node:net";
import type { OriginPlan, OriginTls } from "#edge/exchange/decisions.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import { ANY_ACCOUNT } from "#snapshot/reliance.ts";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { OriginHealth } from "./origin-health.ts";
import type { Resolver } from "./resolver.ts";
import type { Zones } from "#edge/zones/zones.ts";

export interface OriginSelector {
  /** A plan or why there is none; a promise only where a resolver has to be asked. Never rejects. */
  select(exchange: Exchange): OriginPlan | EdgeErrorName | Promise<OriginPlan | EdgeErrorName>;
}

interface OriginDeps {
  readonly zones: Zones;
  readonly resolve: Resolver;
  readonly allows: AddressPolicy;
  readonly health: Pick<OriginHealth, "order">;
  /** 0 is the scheme's port. */
  readonly originPort: number;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
/** As resolvers follow CNAME chains: long enough for every real one. */
const CHAIN_LENGTH_MAX = 8;
const ADDRESSES_MAX = 4;

type Found = { readonly addresses: readonly string[] } | { readonly outside: string } | EdgeErrorName;

export function createOriginSelector(deps: OriginDeps): OriginSelector {
  let turn = 0;

  /** Starts with another address each time, so that several origins share the load. */
  const plan = (exchange: Exchange, addresses: readonly string[]): OriginPlan | EdgeErrorName => {
    if (addresses.length === 0) return "unroutable";
    const tls = tlsFor(exchange);
    const port = exchange.originPort || deps.originPort || (tls === null ? HTTP_PORT : HTTPS_PORT);
    const isOne = addresses.length === 1 && deps.allows(addresses[0]!, port);
    const allowed = isOne ? addresses : addresses.filter((address) => deps.allows(address, port));
    if (allowed.length === 0) return "prohibited_address";
    if (allowed.length === 1) return { addresses: allowed, port, tls };
    const first = turn++ % allowed.length;
    const turned = [...allowed.slice(first), ...allowed.slice(0, first)];
    return { addresses: deps.health.order(turned, port, tls).slice(0, ADDRESSES_MAX), port, tls };
  };

  return {
    select: (exchange) => {
      if (exchange.ownOrigin !== null) return exchange.ownOrigin;
      const name = originName(deps.zones, exchange);
      const proxied = name === undefined ? "fallback_origin_missing" : findProxied(deps.zones, exchange, name);
      // A rule may name another origin; only a proxied record makes the edge serve the name at all.
      const isRouted = exchange.originHost !== "" && proxied !== "unroutable" && proxied !== "fallback_origin_missing";
      const found = isRouted ? follow(deps.zones, accountOf(exchange), exchange.originHost) : proxied;
      if (typeof found === "string") return found === "unroutable" ? causeOf(deps.zones, exchange) : found;
      if ("addresses" in found) return plan(exchange, found.addresses);
      const addresses = deps.resolve(found.outside);
      return addresses instanceof Promise ? addresses.then((late) => plan(exchange, late)) : plan(exchange, addresses);
    },
  };
}

/** The `ssl` mode: origins are spoken to over TLS where visitors came by it too. */
function tlsFor(exchange: Exchange): OriginTls | null {
  const mode = exchange.settings.ssl;
  if (exchange.scheme === "http" || mode === "off" || mode === "flexible") return null;
  // A rule's host_header is what the origin is called; its sni has the last word.
  return { serverName: exchange.serverName || exchange.hostHeader || hostnameSni(exchange) || exchange.host, verified: mode === "strict" };
}

/** A custom hostname's own origin is asked for by its own name, the fallback origin by the visitor's host (custom-hostnames.md §1, "SNI"). */
function hostnameSni({ customHostname: hostname }: Exchange): string {
  if (hostname === null || hostname.sni === SNI_OF_HOST) return "";
  return hostname.sni ?? hostname.origin ?? "";
}

const SNI_OF_HOST = ":request_host_header:";

/** The name whose records say where the request goes: the host itself, or what its custom hostname leads to; undefined where that was not set. */
const originName = (zones: Zones, { customHostname: hostname, host }: Exchange): string | undefined =>
  hostname === null ? host : zones.customHostnames.originOf(hostname);

/** Why a served name has no origin (SPEC 7, error 1016). */
function causeOf({ customHostnames }: Zones, { customHostname, host, zone }: Exchange): EdgeErrorName {
  if (customHostname !== null) return "hostname_origin_missing";
  if (zone?.names.addressRecords(host).some(isProxied) === true) return "unroutable";
  return customHostnames.wildcard(host) === undefined ? "unroutable" : "wildcard_shadowed";
}

/** What the name's own records say. Only proxied ones are served: the others never point visitors here. */
function findProxied(zones: Zones, exchange: Exchange, name: string): Found {
  const all = exchange.zone?.names.addressRecords(name) ?? [];
  // Most names have one record: then there is nothing to choose from.
  const [first] = all;
  if (all.length === 1 && first !== undefined && first.proxied && !isAlias(first)) return { addresses: [first.content] };
  const records = all.filter(isProxied);
  const alias = records.find(isAlias);
  if (alias !== undefined) return follow(zones, accountOf(exchange), alias.content);
  return records.length === 0 ? "unroutable" : { addresses: records.map((record) => record.content) };
}

const accountOf = ({ zone }: Exchange): string => zone?.entry.account_id ?? ANY_ACCOUNT;
const isProxied = (record: RecordEntry): boolean => record.proxied;
const isAlias = (record: RecordEntry): boolean => record.type === "CNAME";

/**
 * Follows a name through the zones that the site's account relies on, which may be ahead of what the world sees, as far as they go.
 * What another account's proxied name hides is that account's: nobody gets there past its rules.
 */
function follow(zones: Zones, account: string, target: string): Found {
  let name = canonical(target);
  /** Whose alias leads to it. */
  let viewer = account;
  for (let length = 0; length < CHAIN_LENGTH_MAX; length++) {
    if (isIP(name) !== 0) return { addresses: [name] };
    const zone = zones.nearestZone(name, viewer);
    if (zone === undefined) return { outside: name };
    viewer = zone.entry.account_id;
    const records = zone.names.addressRecords(name);
    if (viewer !== account && !zone.entry.paused && records.some(isProxied)) return "cross_account";
    const alias = records.find(isAlias);
    if (alias === undefined) return records.length === 0 ? "unroutable" : { addresses: records.map((record) => record.content) };
    name = canonical(alias.content);
  }
  return "unroutable";
}

const canonical = (name: string): string => name.toLowerCase().replace(/\.$/, "");
