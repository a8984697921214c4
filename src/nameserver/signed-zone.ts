import { canonicalOrder } from "#wire/dns/canonical.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { type NameKey, nameOfKey } from "#wire/dns/name.ts";
import type { AnswerSet } from "./answer-set.ts";
import { nsecRdata } from "./dnssec/denial.ts";
import type { Signatures } from "./dnssec/signatures.ts";
import type { EdgeFront } from "./edge-front.ts";
import { isBelowBorder, isFlattened, transferredSet, visibleTypes } from "./lookup.ts";
import type { RecordSet, RecordSets } from "./zone-nodes.ts";
import type { ZoneIndex } from "./zones.ts";

export interface SignedZoneDeps {
  readonly edge: EdgeFront;
  readonly signatures: Signatures;
  /** The addresses that the apex has of another name's, whichever way; types that it has none of are left out. */
  addresses(zone: ZoneIndex): readonly RecordSet[];
}

/** The zone's keys cannot be used, and without signatures it must not be handed out. */
export class UnusableKeysError extends Error {
  constructor() {
    super("the zone's keys cannot be used");
    this.name = "UnusableKeysError";
  }
}

interface Owner {
  readonly key: NameKey;
  readonly order: string;
  readonly sets: readonly RecordSet[];
  /** Only the parent's side of a delegation: its NS set is not signed (RFC 4035 §2.2). */
  readonly isCut: boolean;
}

/**
 * A signed zone as servers get it that serve it without its keys: every set as clients see it, with its signatures, and
 * the whole chain of NSEC records (RFC 4035 §2), since they cannot deny by compact denial. The sets are those of the
 * first call of `next`; the SOA comes first, and once. `zone.dnssec` must be there. Signatures have a week left at the
 * least. Throws UnusableKeysError, and ZoneWalkError where too much changes meanwhile.
 */
export function* signedZone(zone: ZoneIndex, { edge, signatures, addresses }: SignedZoneDeps): Generator<AnswerSet, void> {
  const { owners, hidden } = namesOf(zone, edge, addresses);
  for (const [i, owner] of owners.entries()) {
    const name = nameOfKey(owner.key);
    const origin = { zone, source: owner.key };
    for (const { type, ttl, rdatas } of owner.sets) {
      if (owner.isCut && type === TYPE.NS) yield { name, type, ttl, rdatas };
      else yield* withSignatures({ name, type, ttl, rdatas, origin }, signatures.kept(zone, { owner: owner.key, type, ttl, rdatas }));
    }
    const next = nameOfKey((owners[i + 1] ?? (owners[0] as Owner)).key);
    const types = owner.sets.map(({ type }) => type);
    const nsec = { type: TYPE.NSEC, ttl: zone.negativeTtl, rdatas: [nsecRdata(next, types)] };
    // The one that is kept for the name is that of compact denial.
    yield* withSignatures({ name, ...nsec, origin }, signatures.made(zone, { owner: owner.key, ...nsec }));
  }
  for (const [key, sets] of hidden) for (const { type, ttl, rdatas } of sets.values()) yield { name: nameOfKey(key), type, ttl, rdatas };
}

function* withSignatures(set: AnswerSet, signed: ReturnType<Signatures["kept"]>): Generator<AnswerSet, void> {
  if (signed === undefined) throw new UnusableKeysError();
  yield set;
  yield { name: set.name, type: TYPE.RRSIG, ttl: set.ttl, rdatas: signed.rrsigs };
}

/** The zone's own names in canonical order, and apart from them those below a delegation or a DNAME. */
function namesOf(zone: ZoneIndex, edge: EdgeFront, addresses: SignedZoneDeps["addresses"]) {
  const owners: Owner[] = [];
  const hidden: (readonly [NameKey, RecordSets])[] = [];
  const add = (key: NameKey, sets: readonly RecordSet[], isCut: boolean): void => {
    if (sets.length > 0) owners.push({ key, order: canonicalOrder(key), sets, isCut });
  };
  const apex = zone.nodes.get(zone.key);
  add(
    zone.key,
    [...shownSets(zone, edge, zone.key, apex?.sets ?? new Map()), ...(isFlattened(zone, apex?.sets) ? addresses(zone) : [])],
    false,
  );
  const walk = zone.nodes.walk();
  try {
    for (let found = walk.next(); found; found = walk.next()) {
      const [key, sets] = found;
      if (key === zone.key) continue;
      if (isBelowBorder(zone, key)) hidden.push(found);
      else add(key, shownSets(zone, edge, key, sets), sets.has(TYPE.NS));
    }
  } finally {
    walk.close();
  }
  owners.sort((a, b) => (a.order < b.order ? -1 : 1));
  return { owners, hidden };
}

/** SOA first. */
const shownSets = (zone: ZoneIndex, edge: EdgeFront, key: NameKey, sets: RecordSets): RecordSet[] =>
  [...new Set([...visibleTypes(edge, zone, key, { sets }), TYPE.CNAME])]
    .map((type) => transferredSet(edge, zone, key, { sets }, type))
    .filter((set) => set !== undefined)
    .sort((a, b) => Number(b.type === TYPE.SOA) - Number(a.type === TYPE.SOA));
