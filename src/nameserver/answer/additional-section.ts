import { TYPE } from "#wire/dns/codes.ts";
import { type DnsName, type NameKey, isWithin, keyOf, nameOfKey, ROOT_KEY } from "#wire/dns/name.ts";
import type { AnswerSet } from "./answer-rrset.ts";
import type { Work } from "./answer-context.ts";
import { lookup, visibleSet } from "#nameserver/zones/lookup.ts";
import type { NameNode, RRset } from "#nameserver/zones/rrset.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** Limit of targets per RRset for which records are added. */
const TARGETS_MAX = 32;

const ADDRESSES: readonly number[] = [TYPE.A, TYPE.AAAA];

/** The types that clients look up next at the target, which starts at `offset` of the RDATA. */
interface TargetType {
  readonly offset: number | ((rdata: Uint8Array) => number);
  readonly wanted: readonly number[];
}

/** Offset of the replacement, which follows order, preference and three strings (RFC 3403 §4.1). */
function replacementOffset(rdata: Uint8Array): number {
  let at = 4;
  for (let string = 0; string < 3; string++) at += 1 + (rdata[at] as number);
  return at;
}

const TARGET_TYPES: ReadonlyMap<number, TargetType> = new Map([
  [TYPE.NS, { offset: 0, wanted: ADDRESSES }],
  [TYPE.MX, { offset: 2, wanted: ADDRESSES }],
  [TYPE.SRV, { offset: 6, wanted: ADDRESSES }],
  // RFC 3403 §4.2: with flag S the replacement has SRV records, with A addresses; without any of these NAPTR records.
  [TYPE.NAPTR, { offset: replacementOffset, wanted: [...ADDRESSES, TYPE.SRV] }],
  // RFC 9460 §4.1: an alias may lead to the SVCB records of its target.
  [TYPE.SVCB, { offset: 2, wanted: [...ADDRESSES, TYPE.SVCB] }],
  [TYPE.HTTPS, { offset: 2, wanted: [...ADDRESSES, TYPE.HTTPS] }],
]);

/** Adds records of hosted zones for the targets of an RRset, which answers with the name `owner`. */
export function addTargets(work: Work, zone: ZoneIndex, owner: DnsName, set: RRset): void {
  const wanted = TARGET_TYPES.get(set.type)?.wanted ?? [];
  for (const target of targetsOf(set, owner)) {
    // Records that the answer already has are not repeated.
    addSets(work, zone, target, keyOf(target) === keyOf(owner) ? wanted.filter((type) => type !== set.type) : wanted);
  }
}

/** Adds the NS set of a zone cut, with the glue that only the parent has (RFC 1034 §4.2.1). */
export function addReferral(work: Work, zone: ZoneIndex, cut: NameKey, set: RRset): void {
  const { draft } = work;
  draft.authorities.push({ name: nameOfKey(cut), type: TYPE.NS, ttl: set.ttl, rdatas: set.rdatas });
  draft.denial = { kind: "delegation", zone, cut };
  for (const target of targetsOf(set, nameOfKey(cut))) {
    const key = keyOf(target);
    const place = { zone, name: target, source: key, node: zone.nodes.get(key) };
    // Only the parent has addresses below the cut; for names below another cut of the zone, they save the resolver a
    // query (RFC 9471 §3).
    if (isWithin(key, cut)) pushSets(draft.glue, work, place, ADDRESSES, true);
    else if (isDelegatedBy(work, zone, key)) pushSets(draft.additionals, work, place, ADDRESSES, true);
    else addSets(work, zone, target, ADDRESSES);
  }
}

function isDelegatedBy({ zones }: Work, zone: ZoneIndex, key: NameKey): boolean {
  const found = lookup(zones, key, TYPE.A, zone.entry.account_id);
  return found.kind === "delegated" && found.zone === zone;
}

function targetsOf(set: RRset, owner: DnsName): DnsName[] {
  const offset = TARGET_TYPES.get(set.type)?.offset;
  if (offset === undefined) return [];
  const targets = new Map<NameKey, DnsName>();
  for (const rdata of set.rdatas.slice(0, TARGETS_MAX)) {
    const target = targetAt(rdata, offset, set.type, owner);
    if (target) targets.set(keyOf(target), target);
  }
  return [...targets.values()];
}

/**
 * The target name. In SVCB and HTTPS, the root means the owner, or with priority 0 that the service is unavailable (RFC
 * 9460 §2.5).
 */
function targetAt(rdata: Uint8Array, offset: TargetType["offset"], type: number, owner: DnsName): DnsName | undefined {
  const target = readStoredName(rdata, typeof offset === "number" ? offset : offset(rdata));
  if ((type !== TYPE.SVCB && type !== TYPE.HTTPS) || keyOf(target) !== ROOT_KEY) return target;
  return rdata[0] === 0 && rdata[1] === 0 ? undefined : owner;
}

/** Reads a name of RDATA that was validated when it was stored. */
function readStoredName(rdata: Uint8Array, offset: number): DnsName {
  let end = offset;
  while (rdata[end] !== 0) end += 1 + (rdata[end] as number);
  return Buffer.from(rdata.subarray(offset, end + 1));
}

/** `from`: the zone whose record points to the name. */
function addSets(work: Work, from: ZoneIndex, name: DnsName, wanted: readonly number[]): void {
  const found = lookup(work.zones, keyOf(name), TYPE.A, from.entry.account_id);
  if (found.kind === "outside") return;
  work.draft.zones.add(found.zone.key);
  if (found.kind === "found") pushSets(work.draft.additionals, work, { ...found, name }, wanted, false);
}

interface Place {
  readonly zone: ZoneIndex;
  readonly name: DnsName;
  readonly source: NameKey;
  readonly node: NameNode | undefined;
}

function pushSets(
  list: AnswerSet[],
  { edge }: Work,
  { zone, name, source, node }: Place,
  wanted: readonly number[],
  isGlue: boolean,
): void {
  const origin: Pick<AnswerSet, "origin"> = isGlue ? {} : { origin: { zone, source } };
  for (const type of wanted) {
    const set = visibleSet(edge, zone, source, node, type);
    if (set) list.push({ name, type, ttl: set.ttl, rdatas: set.rdatas, ...origin });
  }
}
