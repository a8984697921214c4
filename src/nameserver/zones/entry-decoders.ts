import type { ZoneEntry } from "#snapshot/entries.ts";
import { WireError } from "#wire/dns/errors.ts";
import { keyOf, type NameKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { readRdata, typeCode } from "#wire/dns/record-types.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";
import { apexSets } from "./apex.ts";
import type { RRset, StoredRecord } from "./rrset.ts";
import type { ZoneIndex } from "./zone-index.ts";

/** Undefined if the entry is invalid: one bad entry must not affect the others. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The parts of a zone's settings that answers need. Throws RdataError on an invalid name. */
export function readZone(
  entry: ZoneEntry,
  beside: Parameters<typeof apexSets>[1],
): Omit<ZoneIndex, "id" | "nodes" | "dnssec" | "certified"> {
  const name = parseAbsoluteName(entry.name);
  return { entry, name, key: keyOf(name), apex: apexSets(entry, beside), negativeTtl: Math.min(entry.soa.ttl, entry.soa.min_ttl) };
}

/** Merges two sets without duplicates; the TTL is that of the first (RFC 2181 §5). */
export function joined(ours: RRset | undefined, others: RRset): RRset {
  if (ours === undefined) return others;
  const distinct = new Map([...others.rdatas, ...ours.rdatas].map((rdata) => [keyOf(rdata), rdata]));
  return { ...ours, rdatas: [...distinct.values()] };
}

/** An empty list if the text is not a name. */
export function readHost(host: string): NameKey[] {
  const key = attempt(() => keyOf(parseAbsoluteName(host)));
  return key === undefined ? [] : [key];
}

/** Throws WireError or RdataError if the entry is not a valid record. */
export function ownerOf({ name, type, rdata }: StoredRecord): NameKey {
  const code = typeCode(type);
  if (code === undefined) throw new WireError("bad_rdata");
  const bytes = Buffer.from(rdata, "base64");
  // Answers copy the bytes unchanged, so they must be valid, uncompressed RDATA.
  if (!bytes.equals(readRdata(code, new WireReader(bytes, { pointers: false })))) throw new WireError("bad_rdata");
  return keyOf(parseAbsoluteName(name));
}
