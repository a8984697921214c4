import type { ZoneEntry } from "#snapshot/entries.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import type { RecordSet } from "./zone-nodes.ts";

/**
 * The SOA and NS sets at a zone's apex. They come from the zone's settings (SPEC 2.3, 2.4), never from
 * records. Throws RdataError where a name in the entry is none.
 */
export function apexSets(entry: ZoneEntry, serial: number): ReadonlyMap<number, RecordSet> {
  const { soa } = entry;
  const numbers = Buffer.alloc(20);
  // RFC 1982: serials are 32 bits and wrap.
  [serial, soa.refresh, soa.retry, soa.expire, soa.min_ttl].forEach((value, i) => numbers.writeUInt32BE(value >>> 0, i * 4));
  const rdata = Buffer.concat([parseAbsoluteName(soa.mname), parseAbsoluteName(soa.rname), numbers]);
  const sets = new Map<number, RecordSet>([[TYPE.SOA, { type: TYPE.SOA, ttl: soa.ttl, rdatas: [rdata], proxied: false }]]);
  if (entry.name_servers.length > 0) {
    sets.set(TYPE.NS, { type: TYPE.NS, ttl: entry.ns_ttl, rdatas: entry.name_servers.map(parseAbsoluteName), proxied: false });
  }
  return sets;
}
