import { isIP } from "node:net";
import type { OriginPlan, OriginTls } from "#edge/exchange/decisions.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import { ANY_ACCOUNT } from "#snapshot/reliance.ts";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { OriginHealth } from "./origin-health.ts";
import type { Resolver } from "./resolver.ts";
import { type EdgeTunnels, TUNNEL_PORT } from "#edge/tunnels/edge-tunnels.ts";
import { tunnelIdOf } from "#kernel/net/tunnel-name.ts";
import type { Zones } from "#edge/zones/zones.ts";

export interface OriginSelector {
  /** A plan, or the error if none is possible; a promise only if a resolver must be asked. Never rejects. */
  select(exchange: Exchange): OriginPlan | EdgeErrorName | Promise<OriginPlan | EdgeErrorName>;
}

interface OriginDeps {
  readonly zones: Zones;
  readonly resolve: Resolver;
  readonly allows: AddressPolicy;
  readonly health: Pick<OriginHealth, "order">;
  readonly tunnels: Pick<EdgeTunnels, "isReachable">;
  /** 0 means the scheme's port. */
  readonly originPort: number;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
/** As in resolvers: longer than any real CNAME chain. */
const CHAIN_LENGTH_MAX = 8;
const ADDRESSES_MAX = 4;

type Found = { readonly addresses: readonly string[] } | { readonly tunnel: string } | { readonly outside: string } | EdgeErrorName;

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
      // A rule may name another origin, but only for names with a proxied record.
      const isRouted = exchange.originHost !== "" && proxied !== "unroutable" && proxied !== "fallback_origin_missing";
      const found = isRouted ? follow(deps.zones, accountOf(exchange), exchange.originHost) : proxied;
      if (typeof found === "string") return found === "unroutable" ? causeOf(deps.zones, exchange) : found;
      if ("addresses" in found) return plan(exchange, found.addresses);
      if ("tunnel" in found)
        return deps.tunnels.isReachable(found.tunnel, accountOf(exchange)) ? throughTunnel(found.tunnel) : "tunnel_down";
      const addresses = deps.resolve(found.outside);
      return addresses instanceof Promise ? addresses.then((late) => plan(exchange, late)) : plan(exchange, addresses);
    },
  };
}

/** An address for each attempt: a connection that ends before it is used may be followed by another one. */
const throughTunnel = (id: string): OriginPlan => ({ addresses: [id, id, id], port: TUNNEL_PORT, tls: null });

/** The `ssl` mode: TLS to origins is used only for visitors that use TLS. */
function tlsFor(exchange: Exchange): OriginTls | null {
  const mode = exchange.settings.ssl;
  if (exchange.scheme === "http" || mode === "off" || mode === "flexible") return null;
  // A rule's sni comes first, then its host_header.
  return { serverName: exchange.serverName || exchange.hostHeader || hostnameSni(exchange) || exchange.host, verified: mode === "strict" };
}

/**
 * The custom origin of a custom hostname gets its own name as SNI, the fallback origin the visitor's host
 * (custom-hostnames.md §1, "SNI").
 */
function hostnameSni({ customHostname: hostname }: Exchange): string {
  if (hostname === null || hostname.sni === SNI_OF_HOST) return "";
  return hostname.sni ?? hostname.origin ?? "";
}

const SNI_OF_HOST = ":request_host_header:";

/**
 * The name whose records lead to the origin: the host, or the origin's name of its custom hostname; undefined if that is
 * not set.
 */
const originName = (zones: Zones, { customHostname: hostname, host }: Exchange): string | undefined =>
  hostname === null ? host : zones.customHostnames.originOf(hostname);

/** The reason why a served name has no origin (SPEC 7, error 1016). */
function causeOf({ customHostnames }: Zones, { customHostname, host, zone }: Exchange): EdgeErrorName {
  if (customHostname !== null) return "hostname_origin_missing";
  if (zone?.names.addressRecords(host).some(isProxied) === true) return "unroutable";
  return customHostnames.wildcard(host) === undefined ? "unroutable" : "wildcard_shadowed";
}

/** The origin by the name's own records. Only proxied ones are served: the others never point visitors here. */
function findProxied(zones: Zones, exchange: Exchange, name: string): Found {
  const all = exchange.zone?.names.addressRecords(name) ?? [];
  // Most names have exactly one record.
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
 * Follows a name through the zones that the account relies on (snapshot/reliance.ts), as far as they go; these may be newer
 * than public DNS. Stops at another account's proxied name: its origin must not be reached past that account's rules.
 */
function follow(zones: Zones, account: string, target: string): Found {
  let name = canonical(target);
  /** The account whose alias leads to the name. */
  let viewer = account;
  for (let length = 0; length < CHAIN_LENGTH_MAX; length++) {
    // Before the pattern of addresses, which takes long to say no. The alias of another account leads nowhere.
    const tunnel = tunnelIdOf(name);
    if (tunnel !== undefined) return viewer === account ? { tunnel } : "tunnel_down";
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
