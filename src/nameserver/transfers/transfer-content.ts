import { TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { keyOf } from "#wire/dns/name.ts";
import type { Query } from "#wire/dns/query.ts";
import { isSerialAfter, soaSerial } from "#wire/dns/serial.ts";
import { answer } from "#nameserver/answer/answer.ts";
import type { Signatures } from "#nameserver/dnssec/rrsig-cache.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import type { FindExternal } from "#nameserver/external/external-names.ts";
import {
  type ApexAddresses,
  areDifferences,
  differences,
  soaAlone,
  type TransferRecord,
  wholeSignedZone,
  wholeZone,
} from "./transfer-records.ts";
import { serialOf, type ZoneJournal } from "#nameserver/zones/zone-journal.ts";
import type { Zones } from "#nameserver/zones/zones.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** The kind of response: the whole zone, its changes, or its SOA because it is current. */
export type TransferKind = "axfr" | "ixfr" | "current";

export interface TransferContent {
  readonly kind: TransferKind;
  /** Yields undefined if the next record takes longer. */
  readonly records: Generator<TransferRecord | undefined, void>;
}

export interface TransferContentDeps {
  readonly zones: Zones;
  readonly edge: EdgeFront;
  readonly journal: ZoneJournal;
  /** Signatures for the sets of signed zones. */
  readonly zoneSignatures: Signatures;
  /** Known records of external names that the zones' aliases lead to. */
  readonly findOutside: FindExternal;
}

/** Decides how to answer a transfer request. Throws WireError if the request is malformed. */
export function createTransferContent(deps: TransferContentDeps): (zone: ZoneIndex, packet: Buffer, query: Query) => TransferContent {
  const { zones, journal, zoneSignatures, findOutside } = deps;
  return (zone, packet, query) => {
    // One state of the addresses for the whole transfer.
    const edge: EdgeFront = { ...deps.edge };
    const addresses: ApexAddresses = ({ name }) =>
      [TYPE.A, TYPE.AAAA].flatMap((type) =>
        answer(zones, edge, { name, type }, findOutside)
          .answers.filter((set) => set.type === type)
          .map(({ ttl, rdatas }) => ({ type, ttl, rdatas, proxied: false })),
      );
    const serial = query.type === TYPE.IXFR ? knownSerial(packet, zone) : undefined;
    if (serial !== undefined && !isSerialAfter(serialOf(zone), serial)) return { kind: "current", records: soaAlone(zone) };
    // A change in a signed zone also changes its NSEC chain, so the zone is always sent as a whole.
    if (zone.dnssec) return { kind: "axfr", records: wholeSignedZone(zone, { edge, signatures: zoneSignatures, addresses }) };
    const versions = serial === undefined ? undefined : journal.since(zone, serial);
    if (versions && areDifferences(zone, versions) && isWorthIt(zone, versions)) {
      return { kind: "ixfr", records: differences(zone, edge, versions) };
    }
    return { kind: "axfr", records: wholeZone(zone, edge, addresses) };
  };
}

/** The serial in the authority section of an IXFR request (RFC 1995 §3). */
function knownSerial(packet: Buffer, zone: ZoneIndex): number | undefined {
  const soa = decodeMessage(packet).authorities.find((record) => record.type === TYPE.SOA && keyOf(record.name) === zone.key);
  return soa && soaSerial(soa.rdata);
}

/** More differences than names would take longer than the whole zone. */
const isWorthIt = (zone: ZoneIndex, versions: readonly { readonly names: readonly unknown[] }[]): boolean =>
  versions.reduce((sum, { names }) => sum + names.length, 0) <= zone.nodes.size;
