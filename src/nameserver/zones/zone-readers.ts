import type { ZoneEntry } from "#snapshot/entries.ts";
import { WireError } from "#wire/dns/errors.ts";
import { keyOf, type NameKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { readRdata, typeCode } from "#wire/dns/record-types.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";
import { apexSets } from "./apex.ts";
import type { RecordSet, StoredRecord } from "./rrset.ts";
import type { ZoneIndex } from "./zone-index.ts";

/** Undefined where the entry cannot be read: a bad one must not take the others down with it. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** What answers need of a zone's settings. Throws RdataError on a name that is none. */
export function readZone(
  entry: ZoneEntry,
  beside: Parameters<typeof apexSets>[1],
): Omit<ZoneIndex, "id" | "nodes" | "dnssec" | "certified"> {
  const name = parseAbsoluteName(entry.name);
  return { entry, name, key: keyOf(name), apex: apexSets(entry, beside), negativeTtl: Math.min(entry.soa.ttl, entry.soa.min_ttl) };
}

/** Each value once; the TTL is that of the first (RFC 2181 §5). */
export function joined(ours: RecordSet | undefined, others: RecordSet): RecordSet {
  if (ours === undefined) return others;
  const distinct = new Map([...others.rdatas, ...ours.rdatas].map((rdata) => [keyOf(rdata), rdata]));
  return { ...ours, rdatas: [...distinct.values()] };
}

/** None where the text is no name. */
export function readHost(host: string): NameKey[] {
  const key = attempt(() => keyOf(parseAbsoluteName(host)));
  return key === undefined ? [] : [key];
}

/** Throws WireError or RdataError where the entry is no record. */
export function ownerOf({ name, type, rdata }: StoredRecord): NameKey {
  const code = typeCode(type);
  if (code === undefined) throw new WireError("bad_rdata");
  const bytes = Buffer.from(rdata, "base64");
  // Answers take the bytes as they are: they must be RDATA, and uncompressed.
  if (!bytes.equals(readRdata(code, new WireReader(bytes, { pointers: false })))) throw new WireError("bad_rdata");
  return keyOf(parseAbsoluteName(name));
}
