import type { DnssecEntry, DnssecKeyEntry, ZoneEntry } from "#snapshot/entries.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { CDNSKEY_DELETE, CDS_DELETE, DNSKEY_TTL_SECONDS, dnskeyRdata, dsRdata } from "#wire/dns/dnssec-key.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import type { RRset } from "./rrset.ts";

/**
 * The RRsets at a zone's apex that come from its settings (SPEC 2.3, 2.4) and keys, not from records. Throws RdataError
 * on an invalid name in the entry.
 */
export function apexSets(
  entry: ZoneEntry,
  { serial, dnssec }: { readonly serial: number; readonly dnssec: DnssecEntry | undefined },
): ReadonlyMap<number, RRset> {
  const { soa } = entry;
  const numbers = Buffer.alloc(20);
  // RFC 1982: serials are 32 bits and wrap.
  [serial, soa.refresh, soa.retry, soa.expire, soa.min_ttl].forEach((value, i) => numbers.writeUInt32BE(value >>> 0, i * 4));
  const rdata = Buffer.concat([parseAbsoluteName(soa.mname), parseAbsoluteName(soa.rname), numbers]);
  const sets = new Map<number, RRset>([[TYPE.SOA, { type: TYPE.SOA, ttl: soa.ttl, rdatas: [rdata], proxied: false }]]);
  if (entry.name_servers.length > 0) {
    sets.set(TYPE.NS, { type: TYPE.NS, ttl: entry.ns_ttl, rdatas: entry.name_servers.map(parseAbsoluteName), proxied: false });
  }
  for (const set of dnssec ? keySets(entry.name, dnssec) : []) sets.set(set.type, set);
  return sets;
}

/** DNSKEY, and CDS with CDNSKEY if the zone asks the parent for a change (RFC 7344, RFC 8078 §4). */
function keySets(zone: string, { keys, cds }: DnssecEntry): RRset[] {
  const rdataOf = (key: DnssecKeyEntry): Buffer => dnskeyRdata(Buffer.from(key.public_key, "base64"));
  const wanted = cds === "delete" ? [] : keys.filter(({ id }) => cds.includes(id)).map(rdataOf);
  const byType: [type: number, rdatas: readonly Uint8Array[]][] = [
    [TYPE.DNSKEY, keys.map(rdataOf)],
    [TYPE.CDS, cds === "delete" ? [CDS_DELETE] : wanted.map((rdata) => dsRdata(zone, rdata))],
    [TYPE.CDNSKEY, cds === "delete" ? [CDNSKEY_DELETE] : wanted],
  ];
  return byType
    .filter(([, rdatas]) => rdatas.length > 0)
    .map(([type, rdatas]) => ({ type, ttl: DNSKEY_TTL_SECONDS, rdatas, proxied: false }));
}
