import { canonicalOrder } from "#wire/dns/canonical.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { isWithin, type NameKey, nameOfKey } from "#wire/dns/name.ts";
import type { AnswerSet } from "#nameserver/answer/answer-rrset.ts";
import { nsecRdata } from "./denial.ts";
import type { Signatures } from "./rrsig-cache.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { isBelowDname, isFlattened, transferredSets, visibleSet } from "#nameserver/zones/lookup.ts";
import { mergeSorted } from "./merge-sorted.ts";
import type { RRset, RRsets } from "#nameserver/zones/rrset.ts";
import { NAMES_PASSED_AT_ONCE } from "#nameserver/zones/zone-iterator.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

export interface SignedZoneDeps {
  readonly edge: EdgeFront;
  readonly signatures: Signatures;
  /** The addresses at a flattened apex, by type; types without an address are omitted. */
  addresses(zone: ZoneIndex): readonly RRset[];
}

/** The zone's keys are unusable, and it must not be sent without signatures. */
export class UnusableKeysError extends Error {
  constructor() {
    super("the zone's keys cannot be used");
    this.name = "UnusableKeysError";
  }
}

/** A name of the zone that has data. */
interface Owner {
  readonly key: NameKey;
  readonly sets: readonly RRset[];
  /** Sets at the name that the zone does not sign: a delegation's NS set, and glue (RFC 4035 §2.2). */
  readonly foreign: readonly RRset[];
}

interface Name {
  readonly key: NameKey;
  readonly order: string;
  readonly sets: RRsets;
}

/** Names that are read and sorted before other work gets its turn. */
const NAMES_AT_ONCE = 1000;

/**
 * A signed zone for servers that serve it without its keys: every set as clients see it, with its signatures, and the
 * whole chain of NSEC records (RFC 4035 §2), because they cannot make compact denials. The sets are those at the first
 * call of `next`; the SOA comes first, and once. Yields undefined while names are sorted and after many names without
 * signatures, so that the caller can let other work run. Requires `zone.dnssec`. Signatures are valid for at least
 * another week. Throws UnusableKeysError, and ZoneIteratorError if too much changes meanwhile.
 */
export function* signedZone(zone: ZoneIndex, deps: SignedZoneDeps): Generator<AnswerSet | undefined, void> {
  const apex = apexOwner(zone, deps);
  const hidden: Name[] = [];
  const owners = ownersBelow(zone, deps.edge, yield* sortedNames(zone), hidden);
  let owner = apex;
  for (const next of owners) {
    if (next === undefined) {
      yield undefined;
      continue;
    }
    yield* signedOwner(zone, deps.signatures, owner, next.key);
    owner = next;
  }
  yield* signedOwner(zone, deps.signatures, owner, apex.key);
  for (const { key, sets } of hidden) for (const { type, ttl, rdatas } of sets.values()) yield { name: nameOfKey(key), type, ttl, rdatas };
}

/** One name's sets with their signatures, and its NSEC record. */
function* signedOwner(
  zone: ZoneIndex,
  signatures: Signatures,
  { key, sets, foreign }: Owner,
  nextKey: NameKey,
): Generator<AnswerSet, void> {
  const name = nameOfKey(key);
  const origin = { zone, source: key };
  for (const { type, ttl, rdatas } of foreign) yield { name, type, ttl, rdatas };
  for (const { type, ttl, rdatas } of sets)
    yield* withSignatures({ name, type, ttl, rdatas, origin }, signatures.kept(zone, { owner: key, type, ttl, rdatas }));
  const types = [...sets, ...foreign.filter(({ type }) => type === TYPE.NS)].map(({ type }) => type);
  const nsec = { type: TYPE.NSEC, ttl: zone.negativeTtl, rdatas: [nsecRdata(nameOfKey(nextKey), types)] };
  yield* withSignatures({ name, ...nsec, origin }, signatures.chained(zone, { owner: key, ...nsec }));
}

function* withSignatures(set: AnswerSet, signed: ReturnType<Signatures["kept"]>): Generator<AnswerSet, void> {
  if (signed === undefined) throw new UnusableKeysError();
  yield set;
  yield { name: set.name, type: TYPE.RRSIG, ttl: set.ttl, rdatas: signed.rrsigs };
}

/** Lists of the zone's names except the apex, each in canonical order. */
function* sortedNames(zone: ZoneIndex): Generator<undefined, readonly (readonly Name[])[]> {
  const walk = zone.nodes.walk();
  const lists: Name[][] = [[]];
  try {
    for (let found = walk.next(); found !== undefined; found = walk.next()) {
      if (found === null) {
        yield undefined;
        continue;
      }
      const [key, sets] = found;
      const last = lists.at(-1) as Name[];
      if (key !== zone.key) last.push({ key, order: canonicalOrder(key), sets });
      if (last.length < NAMES_AT_ONCE) continue;
      last.sort((a, b) => (a.order < b.order ? -1 : 1));
      lists.push([]);
      yield undefined;
    }
  } finally {
    walk.close();
  }
  lists.at(-1)?.sort((a, b) => (a.order < b.order ? -1 : 1));
  return lists;
}

/**
 * The names with authoritative data in canonical order. Names below a delegation go to `hidden`. Yields undefined after
 * many names without such data.
 */
function* ownersBelow(
  zone: ZoneIndex,
  edge: EdgeFront,
  lists: readonly (readonly Name[])[],
  hidden: Name[],
): Generator<Owner | undefined, void> {
  let passed = 0;
  // A DNAME at the apex hides all names below.
  let border: NameKey | undefined = zone.nodes.get(zone.key)?.sets.has(TYPE.DNAME) === true ? zone.key : undefined;
  for (const name of mergeSorted(lists, (a, b) => a.order < b.order)) {
    const { key, sets } = name;
    if (++passed === NAMES_PASSED_AT_ONCE) {
      passed = 0;
      yield undefined;
    }
    if (border !== undefined && isWithin(key, border)) {
      if (!isBelowDname(zone, key)) hidden.push(name);
      continue;
    }
    border = sets.has(TYPE.NS) || sets.has(TYPE.DNAME) ? key : undefined;
    const owner = ownerAt(zone, edge, key, sets);
    if (owner.sets.length + owner.foreign.length === 0) continue;
    passed = 0;
    yield owner;
  }
}

function ownerAt(zone: ZoneIndex, edge: EdgeFront, key: NameKey, sets: RRsets): Owner {
  const shown = transferredSets(edge, zone, key, sets);
  const own = ({ type }: RRset): boolean => !sets.has(TYPE.NS) || type === TYPE.DS;
  return { key, sets: shown.filter(own), foreign: shown.filter((set) => !own(set)) };
}

/** The apex; the SOA is its first set. */
function apexOwner(zone: ZoneIndex, { edge, addresses }: SignedZoneDeps): Owner {
  const sets: RRsets = zone.nodes.get(zone.key)?.sets ?? new Map();
  const made = Array.from(zone.apex.keys(), (type) => visibleSet(edge, zone, zone.key, { sets }, type)).filter((set) => set !== undefined);
  const flattened = isFlattened(zone, sets) ? addresses(zone) : [];
  const isSoa = ({ type }: RRset): number => Number(type === TYPE.SOA);
  made.sort((a, b) => isSoa(b) - isSoa(a));
  return { key: zone.key, sets: [...made, ...transferredSets(edge, zone, zone.key, sets), ...flattened], foreign: [] };
}
