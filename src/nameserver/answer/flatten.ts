import { EXTENDED_ERROR, TYPE } from "#wire/dns/codes.ts";
import { type DnsName, keyOf, type NameKey } from "#wire/dns/name.ts";
import type { Work } from "./answer-context.ts";
import { isReplaced, isProxied, type Lookup, lookup, visibleSet } from "#nameserver/zones/lookup.ts";
import { substituteDname } from "./dname.ts";
import type { RRset } from "#nameserver/zones/rrset.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

type Found = Extract<Lookup, { kind: "found" }>;

/** Where flattening looks up addresses: within the alias's zone only, or at external names too. */
type Reach = "zone" | "anywhere";

/** Limit of an alias chain. */
const ALIASES_MAX = 16;

const isAddress = (type: number): boolean => type === TYPE.A || type === TYPE.AAAA;

interface Alias {
  readonly set: RRset;
  readonly reach: Reach | "none";
}

/** The CNAME at the name, unless the name is proxied. */
export function aliasAt({ zone, source, node }: Found): Alias | undefined {
  const set = node?.sets.get(TYPE.CNAME);
  return set === undefined || isProxied(zone, node) ? undefined : { set, reach: reachOf(zone, source, set) };
}

/** dns.md "Flattening". A secondary zone answers as its primary does, except for settings of this server (SPEC 2.5). */
function reachOf(zone: ZoneIndex, source: NameKey, set: RRset): Alias["reach"] {
  const isCopy = zone.entry.type === "secondary";
  if (source === zone.key && isCopy) return zone.entry.secondary_overrides === true ? "anywhere" : "none";
  if (source === zone.key || isReplaced(zone, set)) return "anywhere";
  return isCopy ? "none" : "zone";
}

/**
 * The addresses behind an alias, with the lowest TTL of the chain. An empty set means that the name has no data.
 * Undefined if the server must return the alias itself: flattening is limited to the zone, which has no addresses for
 * it.
 */
export function flatten(work: Work, found: Found, type: number): RRset | undefined {
  const start = aliasAt(found);
  if (start === undefined || start.reach === "none" || !isAddress(type)) return undefined;
  const { draft, zones, edge } = work;
  const seen = new Set<NameKey>();
  let reach: Alias["reach"] = start.reach;
  let ttl = start.set.ttl;
  let target: DnsName | undefined = Buffer.from(start.set.rdatas[0] as Uint8Array);
  /** The account whose alias points to the name. */
  let viewer = found.zone.entry.account_id;
  const set = (rdatas: readonly Uint8Array[], least = Number.POSITIVE_INFINITY): RRset => ({
    type,
    ttl: Math.min(ttl, least),
    rdatas,
    proxied: false,
  });
  while (target !== undefined && seen.size < ALIASES_MAX) {
    const key = keyOf(target);
    if (seen.has(key)) break;
    seen.add(key);
    const next = lookup(zones, key, type, viewer);
    if (next.kind !== "outside") {
      draft.zones.add(next.zone.key);
      viewer = next.zone.entry.account_id;
    }
    if (reach === "zone" && (next.kind === "outside" || next.kind === "delegated" || next.zone !== found.zone)) return undefined;
    if (next.kind === "outside" || next.kind === "delegated") {
      const there = askOutside(work, target, type);
      ttl = Math.min(ttl, there.ttl);
      if (there.ours === undefined && there.rdatas.length > 0) return set(there.rdatas);
      target = there.ours;
    } else if (next.kind === "redirected") {
      ttl = Math.min(ttl, next.set.ttl);
      target = substituteDname(target, next);
    } else if (next.kind === "found") {
      const there = visibleSet(edge, next.zone, next.source, next.node, type);
      if (there) return set(there.rdatas, there.ttl);
      const alias = aliasAt(next);
      if (alias?.reach === "anywhere") reach = "anywhere";
      ttl = Math.min(ttl, alias?.set.ttl ?? ttl);
      target = alias && Buffer.from(alias.set.rdatas[0] as Uint8Array);
    } else target = undefined;
  }
  return start.reach === "anywhere" ? set([]) : undefined;
}

interface Outside {
  readonly rdatas: readonly Uint8Array[];
  readonly ttl: number;
  readonly ours?: DnsName;
}

const WHY = {
  good: {},
  stale: { extendedError: EXTENDED_ERROR.STALE_ANSWER },
  unknown: { extendedError: EXTENDED_ERROR.NO_REACHABLE_AUTHORITY },
} as const;

/** Looks up an external name, and records in the draft what the answer takes from it. */
function askOutside({ draft, findOutside }: Work, name: DnsName, type: number): Outside {
  const known = findOutside(name, type);
  const { missing = [], keepMs = Number.POSITIVE_INFINITY, ...rest } = draft.outside ?? {};
  if (known === undefined) {
    draft.outside = { ...rest, missing: [...missing, { name, type }], keepMs: 0 };
    return { rdatas: [], ttl: 0 };
  }
  draft.outside = { ...rest, missing, keepMs: Math.min(keepMs, known.keepMs), ...WHY[known.state] };
  return known;
}
