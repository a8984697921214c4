import type { PrimaryApex } from "#model/dns/primary-copy.ts";
import type { ResourceRecord } from "#wire/dns/message.ts";
import { formatName } from "#wire/dns/name.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";
import { storedTtl } from "./copied-record.ts";

/** The apex from the primary's SOA and the RDATA of its NS records. */
export function apexOf(soa: ResourceRecord, nameServers: Iterable<Uint8Array>, nsTtl: number): PrimaryApex {
  const reader = new WireReader(soa.rdata, { pointers: false });
  const [mname, rname] = [formatName(reader.name()), formatName(reader.name())];
  const serial = reader.u32();
  const [refresh, retry, expire, min_ttl] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  return {
    serial,
    soa: { mname, rname, refresh, retry, expire, min_ttl, ttl: storedTtl(soa.ttl) },
    name_servers: Array.from(nameServers, formatName).toSorted(),
    ns_ttl: storedTtl(nsTtl),
  };
}
