import { TYPE } from "#wire/dns/codes.ts";
import { type NameKey, nameOfKey } from "#wire/dns/name.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { isFlattened, transferredSets } from "#nameserver/zones/lookup.ts";
import { signedZone, type SignedZoneDeps } from "#nameserver/dnssec/signed-zone.ts";
import { soaOf, type ZoneVersion } from "#nameserver/zones/zone-journal.ts";
import type { RRset, RRsets } from "#nameserver/zones/rrset.ts";
import { NAMES_PASSED_AT_ONCE } from "#nameserver/zones/zone-iterator.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** One record of a transfer. */
export interface TransferRecord {
  readonly name: Uint8Array;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/** The current addresses at a flattened apex, by type; types without an address are omitted. */
export type ApexAddresses = (zone: ZoneIndex) => readonly RRset[];

/**
 * The whole zone as at the first call of `next`, between two copies of its SOA (RFC 5936 §2.2). Yields undefined after
 * many names without records to send.
 */
export function* wholeZone(zone: ZoneIndex, edge: EdgeFront, addresses: ApexAddresses): Generator<TransferRecord | undefined, void> {
  const walk = zone.nodes.walk();
  try {
    const flattened = isFlattened(zone, zone.nodes.get(zone.key)?.sets) ? addresses(zone) : [];
    const soa = soaRecord(zone, zone.apex);
    yield soa;
    for (const set of zone.apex.values()) if (set.type !== TYPE.SOA) yield* recordsOf(zone.key, set);
    for (const set of flattened) yield* recordsOf(zone.key, set);
    let passed = 0;
    for (let found = walk.next(); found !== undefined; found = walk.next()) {
      const sent = found && transferredSets(edge, zone, found[0], found[1]);
      passed = sent?.length === 0 ? passed + 1 : 0;
      if (sent === null || passed === NAMES_PASSED_AT_ONCE) {
        passed = 0;
        yield undefined;
      }
      for (const set of sent ?? []) yield* recordsOf(found![0], set);
    }
    yield soa;
  } finally {
    walk.close();
  }
}

/** The same with signatures and proofs, for servers without the zone's keys. Pauses and throws as `signedZone` does. */
export function* wholeSignedZone(zone: ZoneIndex, deps: SignedZoneDeps): Generator<TransferRecord | undefined, void> {
  const soa = soaRecord(zone, zone.apex);
  for (const set of signedZone(zone, deps)) {
    if (set === undefined) yield undefined;
    else for (const rdata of set.rdatas) yield { name: set.name, type: set.type, ttl: set.ttl, rdata };
  }
  yield soa;
}

/** The changes from version to version, oldest first (RFC 1995 §4). Yields undefined after many names without records to send. */
export function* differences(
  zone: ZoneIndex,
  edge: EdgeFront,
  versions: readonly ZoneVersion[],
): Generator<TransferRecord | undefined, void> {
  const soa = soaRecord(zone, zone.apex);
  yield soa;
  for (const { apexBefore, apexAfter, names } of versions) {
    /** Records of the names in one state that the other state lacks. */
    const side = function* (from: "before" | "after", to: "before" | "after"): Generator<TransferRecord | undefined, void> {
      const apex = { before: withoutSoa(apexBefore), after: withoutSoa(apexAfter) };
      yield* missing(zone.key, apex[from], apex[to]);
      let passed = 0;
      for (const name of names) {
        passed += 1;
        for (const record of missing(
          name.key,
          transferredSets(edge, zone, name.key, name[from]),
          transferredSets(edge, zone, name.key, name[to]),
        )) {
          passed = 0;
          yield record;
        }
        if (passed < NAMES_PASSED_AT_ONCE) continue;
        passed = 0;
        yield undefined;
      }
    };
    yield soaRecord(zone, apexBefore);
    yield* side("before", "after");
    yield soaRecord(zone, apexAfter);
    yield* side("after", "before");
  }
  yield soa;
}

/** The zone's SOA alone: the client is up to date, or the changes do not fit. */
export function* soaAlone(zone: ZoneIndex): Generator<TransferRecord, void> {
  yield soaRecord(zone, zone.apex);
}

/**
 * Whether the versions can be sent as differences. Addresses behind an alias at the apex change without a new serial; a
 * DNAME hides and reveals names that did not change themselves.
 */
export const areDifferences = (zone: ZoneIndex, versions: readonly ZoneVersion[]): boolean =>
  !isFlattened(zone, zone.nodes.get(zone.key)?.sets) &&
  !versions.some(({ names }) =>
    names.some(
      ({ key, before, after }) =>
        (key === zone.key && [before, after].some((sets) => isFlattened(zone, sets))) || before.has(TYPE.DNAME) !== after.has(TYPE.DNAME),
    ),
  );

const withoutSoa = (apex: RRsets): RRset[] => [...apex.values()].filter(({ type }) => type !== TYPE.SOA);

/** The records of `sets` that `others` lacks; a different TTL makes a different record. */
function* missing(key: NameKey, sets: readonly RRset[], others: readonly RRset[]): Generator<TransferRecord, void> {
  for (const set of sets) {
    const other = others.find(({ type, ttl }) => type === set.type && ttl === set.ttl);
    const known = new Set(other?.rdatas.map((rdata) => Buffer.from(rdata).toString("latin1")));
    for (const record of recordsOf(key, set)) if (!known.has(Buffer.from(record.rdata).toString("latin1"))) yield record;
  }
}

function* recordsOf(key: NameKey, { type, ttl, rdatas }: RRset): Generator<TransferRecord, void> {
  const name = nameOfKey(key);
  for (const rdata of rdatas) yield { name, type, ttl, rdata };
}

function soaRecord(zone: ZoneIndex, apex: RRsets): TransferRecord {
  const ttl = apex.get(TYPE.SOA)?.ttl ?? 0;
  return { name: zone.name, type: TYPE.SOA, ttl, rdata: soaOf(apex) ?? new Uint8Array() };
}
