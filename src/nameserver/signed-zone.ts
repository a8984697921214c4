import { canonicalOrder } from "#wire/dns/canonical.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { keyOf, type NameKey, nameOfKey } from "#wire/dns/name.ts";
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

/**
 * A signed zone as servers get it that serve it without its keys: every set as clients see it, with its signatures, and
 * the whole chain of NSEC records (RFC 4035 §2), since they cannot deny by compact denial. The sets are those of the
 * first call of `next`; the SOA comes first, and once. `zone.dnssec` must be there. Signatures have a week left at the
 * least. Throws UnusableKeysError, and ZoneWalkError where too much changes meanwhile.
 */
export function* signedZone(zone: ZoneIndex, { edge, signatures, addresses }: SignedZoneDeps): Generator<AnswerSet, void> {
  const { owners, hidden } = namesOf(zone);
  const flattened = isFlattened(zone, owners[0]?.sets) ? addresses(zone) : [];
  let before: { readonly key: NameKey; readonly types: readonly number[] } | undefined;
  for (const { key, sets } of owners) {
    const shown = [...shownSets(zone, edge, key, sets), ...(key === zone.key ? flattened : [])];
    if (shown.length === 0) continue;
    // Each NSEC record leads to the next name that has anything to show.
    if (before) yield* nsec(zone, signatures, before, key);
    yield* signedSets(zone, signatures, key, shown);
    before = { key, types: shown.map(({ type }) => type) };
  }
  if (before) yield* nsec(zone, signatures, before, zone.key);
  for (const { key, sets } of hidden) for (const { type, ttl, rdatas } of sets.values()) yield { name: nameOfKey(key), type, ttl, rdatas };
}

function* signedSets(zone: ZoneIndex, signatures: Signatures, owner: NameKey, sets: readonly RecordSet[]): Generator<AnswerSet, void> {
  const name = nameOfKey(owner);
  for (const { type, ttl, rdatas } of sets) {
    // Of a delegation the NS set is the child's (RFC 4035 §2.2).
    if (type === TYPE.NS && owner !== zone.key) yield { name, type, ttl, rdatas };
    else yield* withSignatures(zone, { name, type, ttl, rdatas }, signatures.kept(zone, { owner, type, ttl, rdatas }));
  }
}

function* nsec(
  zone: ZoneIndex,
  signatures: Signatures,
  { key, types }: { readonly key: NameKey; readonly types: readonly number[] },
  next: NameKey,
): Generator<AnswerSet, void> {
  const set = { type: TYPE.NSEC, ttl: zone.negativeTtl, rdatas: [nsecRdata(nameOfKey(next), types)] };
  // The one that is kept for the name is that of compact denial.
  yield* withSignatures(zone, { name: nameOfKey(key), ...set }, signatures.made(zone, { owner: key, ...set }));
}

function* withSignatures(zone: ZoneIndex, set: AnswerSet, signed: ReturnType<Signatures["kept"]>): Generator<AnswerSet, void> {
  if (signed === undefined) throw new UnusableKeysError();
  yield { ...set, origin: { zone, source: keyOf(set.name) } };
  yield { name: set.name, type: TYPE.RRSIG, ttl: set.ttl, rdatas: signed.rrsigs };
}

interface Name {
  readonly key: NameKey;
  readonly sets: RecordSets;
}

/** The zone's own names in canonical order, the apex first, and apart from them those below a delegation or a DNAME. */
function namesOf(zone: ZoneIndex): { readonly owners: readonly Name[]; readonly hidden: readonly Name[] } {
  const own: (Name & { readonly order: string })[] = [];
  const hidden: Name[] = [];
  const apex = { key: zone.key, sets: zone.nodes.get(zone.key)?.sets ?? new Map<number, RecordSet>() };
  const walk = zone.nodes.walk();
  try {
    for (let found = walk.next(); found; found = walk.next()) {
      const [key, sets] = found;
      if (isBelowBorder(zone, key)) hidden.push({ key, sets });
      else if (key !== zone.key) own.push({ key, sets, order: canonicalOrder(key) });
    }
  } finally {
    walk.close();
  }
  own.sort((a, b) => (a.order < b.order ? -1 : 1));
  return { owners: [apex, ...own], hidden };
}

/** SOA first. */
const shownSets = (zone: ZoneIndex, edge: EdgeFront, key: NameKey, sets: RecordSets): RecordSet[] =>
  [...new Set([...visibleTypes(edge, zone, key, { sets }), TYPE.CNAME])]
    .map((type) => transferredSet(edge, zone, key, { sets }, type))
    .filter((set) => set !== undefined)
    .sort((a, b) => Number(b.type === TYPE.SOA) - Number(a.type === TYPE.SOA));
