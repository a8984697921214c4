import type { Viewer } from "#snapshot/zone-directory.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { type EdgeFront, PROXIED_TTL } from "./proxied-records.ts";
import { type NameKey, parentKey, ROOT_KEY } from "#wire/dns/name.ts";
import type { NameNode, RRset, RRsets } from "./rrset.ts";
import type { Zones } from "./zones.ts";
import type { ZoneIndex } from "./zone-index.ts";

/** The result of RFC 1034 §4.3.2, steps 2 and 3, for a name. */
export type Lookup =
  | { readonly kind: "outside" }
  /** In a zone whose data has expired. */
  | { readonly kind: "expired"; readonly zone: ZoneIndex }
  /** At or below a zone cut: `cut` owns the NS set. */
  | { readonly kind: "delegated"; readonly zone: ZoneIndex; readonly cut: NameKey; readonly set: RRset }
  /** Below a DNAME of `owner`: the name is an alias (RFC 6672 §3.2). */
  | { readonly kind: "redirected"; readonly zone: ZoneIndex; readonly owner: NameKey; readonly set: RRset }
  /** The name exists, or the wildcard `source` covers it. `node` is undefined at an apex without records. */
  | { readonly kind: "found"; readonly zone: ZoneIndex; readonly source: NameKey; readonly node: NameNode | undefined }
  | { readonly kind: "absent"; readonly zone: ZoneIndex };

const WILDCARD_LABEL = "\u0001*";

/** `viewer`: the account whose record points to the name; null if the client queried the name directly. */
export function lookup(zones: Zones, key: NameKey, type: number, viewer: Viewer): Lookup {
  const zone = zoneFor(zones, key, type, viewer);
  if (zone === undefined) return (viewer === null && isClaimed(type) ? claim(zones, key) : undefined) ?? { kind: "outside" };
  if (zone.entry.expired === true) return { kind: "expired", zone };
  const border = zone.nodes.borders > 0 ? borderAbove(zone, key, type) : undefined;
  if (border) return border;
  const node = (type === TYPE.DS ? unwrittenCut(zones, zone, key) : undefined) ?? zone.nodes.get(key);
  if (node || key === zone.key) return { kind: "found", zone, source: key, node };
  const source = WILDCARD_LABEL + closestEncloser(zone, key);
  const wildcard = zone.nodes.get(source);
  return wildcard ? { kind: "found", zone, source, node: wildcard } : { kind: "absent", zone };
}

/** Registries query these types before they delegate a zone; other answers wait until the zone's ownership is proved. */
const isClaimed = (type: number): boolean => type === TYPE.SOA || type === TYPE.NS;

function claim(zones: Zones, key: NameKey): Lookup | undefined {
  const zone = zones.oldestClaim(key);
  return zone && { kind: "found", zone, source: key, node: undefined };
}

/** A delegation's DS belongs to the parent zone (RFC 4035 §3.1.4.1), if the child's account trusts the parent. */
function zoneFor(zones: Zones, key: NameKey, type: number, viewer: Viewer): ZoneIndex | undefined {
  const zone = zones.nearestZone(key, viewer);
  if (type !== TYPE.DS || zone?.key !== key) return zone;
  const above = parentKey(key);
  const parent = above === undefined ? undefined : zones.nearestZone(above, zone.entry.account_id);
  return parent?.dnssec || parent?.nodes.get(key)?.sets.has(TYPE.NS) ? parent : zone;
}

/**
 * The delegation that a signed zone should have for a hosted child zone. Without signatures nobody needs it; with them,
 * validators would reject the child unless the parent delegates it. Applies only to children whose account trusts the
 * parent.
 */
function unwrittenCut(zones: Zones, zone: ZoneIndex, key: NameKey): NameNode | undefined {
  const child = zones.nearestZone(key, zone.entry.account_id);
  const isUnwritten = child?.key === key && child !== zone && !zone.nodes.get(key)?.sets.has(TYPE.NS);
  const servers = isUnwritten ? child.apex.get(TYPE.NS) : undefined;
  return servers && { sets: new Map([[TYPE.NS, servers]]) };
}

/**
 * The first name below the apex at which the zone's authority ends: a zone cut, or a DNAME above the name (RFC 1034
 * §4.3.2 step 3b, RFC 6672 §3.2). Data below it is glue or hidden.
 */
function borderAbove(zone: ZoneIndex, key: NameKey, type: number): Lookup | undefined {
  let found: Lookup | undefined;
  for (let name: NameKey | undefined = key; name !== undefined; name = parentKey(name)) {
    const sets = zone.nodes.get(name)?.sets;
    const cut = name === zone.key || (name === key && type === TYPE.DS) ? undefined : sets?.get(TYPE.NS);
    const redirect = name === key ? undefined : sets?.get(TYPE.DNAME);
    if (cut) found = { kind: "delegated", zone, cut: name, set: cut };
    else if (redirect) found = { kind: "redirected", zone, owner: name, set: redirect };
    if (name === zone.key) break;
  }
  return found;
}

/** The longest existing ancestor, which determines the wildcard that applies (RFC 4592 §3.3.1). */
function closestEncloser(zone: ZoneIndex, key: NameKey): NameKey {
  let name = parentKey(key);
  while (name !== undefined && name !== zone.key && !zone.nodes.get(name)) name = parentKey(name);
  return name ?? zone.key;
}

/** The RRset as clients see it: a proxied name has the edge's addresses instead of its own. */
export function visibleSet(edge: EdgeFront, zone: ZoneIndex, source: NameKey, node: NameNode | undefined, type: number): RRset | undefined {
  if (source === zone.key) {
    const apex = zone.apex.get(type);
    // A CNAME cannot exist beside SOA and NS (RFC 1034 §3.6.2), so at the apex it is always flattened.
    if (apex && type === TYPE.DNSKEY) return withRecords(apex, node?.sets.get(type));
    if (apex || type === TYPE.NS || type === TYPE.SOA || type === TYPE.CNAME) return apex;
  }
  if (source === zone.key && isAddressType(type) && isOverridden(zone, node) && !isProxied(zone, node)) return undefined;
  if (!isAddressType(type) || !isProxied(zone, node)) {
    const set = node?.sets.get(type);
    // Flattening returns addresses instead.
    if (set && type === TYPE.CNAME && isReplaced(zone, set)) return undefined;
    return set ?? (type === TYPE.HTTPS ? madeHttps(edge, zone, source, node) : undefined);
  }
  if (type === TYPE.CNAME || type === hiddenFamily(node)) return undefined;
  const rdatas = type === TYPE.A ? edge.ipv4 : edge.ipv6;
  return rdatas.length === 0 ? undefined : { type, ttl: PROXIED_TTL, rdatas, proxied: true };
}

/** The HTTPS set of the edge for a proxied name, if the edge has a certificate for it (dns.md "Proxied"). */
function madeHttps({ https }: EdgeFront, zone: ZoneIndex, source: NameKey, node: NameNode | undefined): RRset | undefined {
  if (https === undefined || !isProxied(zone, node) || !isCertified(zone, source) || !hasHttp2(zone)) return undefined;
  const hidden = hiddenFamily(node);
  return hidden === undefined ? https.all : hidden === TYPE.A ? https.ipv6 : https.ipv4;
}

/** SPEC 2.3: only if HTTP/2 is on and the zone uses TLS. */
const hasHttp2 = ({ entry: { edge = {} } }: ZoneIndex): boolean => edge.http2 !== false && edge.ssl !== "off";

/** A wildcard in a certificate covers exactly one label (RFC 9525 §6.3). */
const isCertified = ({ certified }: ZoneIndex, name: NameKey): boolean =>
  certified.has(name) || certified.has(WILDCARD_LABEL + (parentKey(name) ?? ROOT_KEY));

/** Whether a CNAME below the apex is flattened even to external names (dns.md "Flattening"). */
export const isReplaced = (zone: ZoneIndex, alias: RRset): boolean =>
  zone.entry.flatten_all_cnames === true || alias.settings?.flatten_cname === true;

/** The address family that the records' settings hide for a proxied name; contradicting settings have no effect. */
function hiddenFamily(node: NameNode | undefined): number | undefined {
  const has = (setting: "ipv4_only" | "ipv6_only"): boolean => PROXIABLE.some((type) => node?.sets.get(type)?.settings?.[setting] === true);
  const [ipv4Only, ipv6Only] = [has("ipv4_only"), has("ipv6_only")];
  if (ipv4Only === ipv6Only) return undefined;
  return ipv4Only ? TYPE.AAAA : TYPE.A;
}

/** The types for which `visibleSet` returns a set. At a zone cut, the zone itself has only NS and DS (RFC 4035 §2.3). */
export function visibleTypes(edge: EdgeFront, zone: ZoneIndex, source: NameKey, node: NameNode | undefined): number[] {
  const isCut = source !== zone.key && node?.sets.has(TYPE.NS) === true;
  if (isCut) return [TYPE.NS, TYPE.DS].filter((type) => node.sets.has(type));
  const types = new Set([...(node?.sets.keys() ?? []), ...(source === zone.key ? zone.apex.keys() : []), ...MADE_TYPES]);
  return [...types].filter((type) => visibleSet(edge, zone, source, node, type) !== undefined);
}

/**
 * The RRset as in zone transfers. An alias below the apex stays an alias, because secondaries get no notice when its
 * addresses or certificates change.
 */
export function transferredSet(edge: EdgeFront, zone: ZoneIndex, key: NameKey, node: NameNode, type: number): RRset | undefined {
  if (type === TYPE.HTTPS) return node.sets.get(type);
  const isAlias = type === TYPE.CNAME && key !== zone.key && !isProxied(zone, node);
  return isAlias ? node.sets.get(type) : visibleSet(edge, zone, key, node, type);
}

/**
 * All RRsets of a name as in zone transfers, without those that settings create at the apex. Omits records below a
 * DNAME, with which some servers refuse the zone (RFC 6672 §2.4) and which never answer a query.
 */
export function transferredSets(edge: EdgeFront, zone: ZoneIndex, key: NameKey, sets: RRsets): RRset[] {
  if (isBelowDname(zone, key)) return [];
  const all = [...sets.values()];
  // In most zones, nearly all names are transferred as written.
  if (key !== zone.key && !all.some(({ proxied }) => proxied)) return all;
  const types = new Set([...sets.keys(), TYPE.A, TYPE.AAAA]);
  if (key === zone.key) for (const type of zone.apex.keys()) types.delete(type);
  return Array.from(types, (type) => transferredSet(edge, zone, key, { sets }, type)).filter((set) => set !== undefined);
}

/** The types that the zone signs at a name: those that clients see, except delegations and hidden data. */
export function signedTypes(edge: EdgeFront, zone: ZoneIndex, key: NameKey, node: NameNode | undefined): number[] {
  if (isBelowZoneCut(zone, key)) return [];
  const isCut = key !== zone.key && node?.sets.has(TYPE.NS) === true;
  return visibleTypes(edge, zone, key, node).filter((type) => !isCut || type !== TYPE.NS);
}

/** Whether the zone's authority ends above the name: its data is glue, or hidden by a DNAME. */
export function isBelowZoneCut(zone: ZoneIndex, key: NameKey): boolean {
  // A name at a cut belongs to the zone, as its DS set does.
  return zone.nodes.borders > 0 && borderAbove(zone, key, TYPE.DS) !== undefined;
}

/** Whether a DNAME hides the name's data. */
export const isBelowDname = (zone: ZoneIndex, key: NameKey): boolean =>
  zone.nodes.borders > 0 && borderAbove(zone, key, TYPE.DS)?.kind === "redirected";

/** Whether the apex shows the addresses of another name. A proxied apex shows the edge's. */
export function isFlattened({ entry }: ZoneIndex, sets: RRsets | undefined): boolean {
  const alias = sets?.get(TYPE.CNAME);
  return alias !== undefined && (entry.paused || !alias.proxied);
}

/** Types that a name may have without a record of the type. */
const MADE_TYPES = [TYPE.A, TYPE.AAAA, TYPE.HTTPS] as const;

/** Keys of other providers that sign the same zone are added to ours (RFC 8901 §2.2). */
const withRecords = (made: RRset, written: RRset | undefined): RRset =>
  written ? { ...made, rdatas: [...made.rdatas, ...written.rdatas] } : made;

/** SPEC 2.5: an alias at a secondary's apex replaces the addresses from its primary. */
const isOverridden = ({ entry }: ZoneIndex, node: NameNode | undefined): boolean =>
  entry.type === "secondary" && entry.secondary_overrides === true && node?.sets.has(TYPE.CNAME) === true;

const PROXIABLE: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.CNAME];
const isAddressType = (type: number): boolean => PROXIABLE.includes(type);

/** If one address is proxied, all answers of the name use the edge; a paused zone is DNS only. */
export const isProxied = (zone: ZoneIndex, node: NameNode | undefined): boolean =>
  !zone.entry.paused && PROXIABLE.some((type) => node?.sets.get(type)?.proxied === true);
