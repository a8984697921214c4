import { EXTENDED_ERROR, TYPE } from "#wire/dns/codes.ts";
import { type DnsName, keyOf, type NameKey } from "#wire/dns/name.ts";
import type { Work } from "./answer-context.ts";
import { isReplaced, isProxied, type Lookup, lookup, visibleSet } from "#nameserver/zones/lookup.ts";
import { redirected } from "./dname.ts";
import type { RecordSet } from "#nameserver/zones/rrset.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

type Found = Extract<Lookup, { kind: "found" }>;

/** How far addresses are fetched that stand in for an alias: within its zone, or wherever it leads. */
type Reach = "zone" | "anywhere";

/** A chain of aliases longer than this leads nowhere. */
const ALIASES_MAX = 16;

const isAddress = (type: number): boolean => type === TYPE.A || type === TYPE.AAAA;

interface Alias {
  readonly set: RecordSet;
  readonly reach: Reach | "none";
}

/** The CNAME that the zone holds at the name, unless the edge stands in for it. */
export function aliasAt({ zone, source, node }: Found): Alias | undefined {
  const set = node?.sets.get(TYPE.CNAME);
  return set === undefined || isProxied(zone, node) ? undefined : { set, reach: reachOf(zone, source, set) };
}

/** dns.md "Flattening". A secondary answers as its primary does, but for what was decided here (SPEC 2.5). */
function reachOf(zone: ZoneIndex, source: NameKey, set: RecordSet): Alias["reach"] {
  const isCopy = zone.entry.type === "secondary";
  if (source === zone.key && isCopy) return zone.entry.secondary_overrides === true ? "anywhere" : "none";
  if (source === zone.key || isReplaced(zone, set)) return "anywhere";
  return isCopy ? "none" : "zone";
}

/**
 * The addresses behind an alias, with the lowest TTL on the way. An empty set: there are none, and the name has no data.
 * Undefined where the alias is to be shown: it is to be flattened within its zone only, and there are no addresses there.
 */
export function flatten(work: Work, found: Found, type: number): RecordSet | undefined {
  const start = aliasAt(found);
  if (start === undefined || start.reach === "none" || !isAddress(type)) return undefined;
  const { draft, zones, edge } = work;
  const seen = new Set<NameKey>();
  let reach: Alias["reach"] = start.reach;
  let ttl = start.set.ttl;
  let target: DnsName | undefined = Buffer.from(start.set.rdatas[0] as Uint8Array);
  /** Whose alias leads to it. */
  let viewer = found.zone.entry.account_id;
  const set = (rdatas: readonly Uint8Array[], least = Number.POSITIVE_INFINITY): RecordSet => ({
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
      target = redirected(target, next);
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

/** Notes in the answer what it owes to servers elsewhere. */
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
