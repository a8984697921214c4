import type { Op, RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import { encodeContent } from "#wire/dns/record-types.ts";

/** A zone entry with ordinary settings. */
export function zoneOp(id: string, name: string, change: Partial<ZoneEntry> = {}): Op {
  const value: ZoneEntry = {
    id,
    account_id: "a".repeat(32),
    name,
    status: "active",
    paused: false,
    type: "full",
    plan: "free",
    name_servers: [`ns1.${name}`, "ns2.provider.example"],
    soa: { mname: `ns1.${name}`, rname: `dns.${name}`, refresh: 10_000, retry: 2400, expire: 604_800, ttl: 3600, min_ttl: 1800 },
    ns_ttl: 86_400,
    ...change,
  };
  return { kind: "zone", id, value };
}

export const serialOp = (zoneId: string, serial: number): Op => ({ kind: "serial", id: zoneId, value: { serial } });

/** A record from zone file text, with an ID made of its content. */
export function recordOp(zoneId: string, name: string, type: string, content: string, change: Partial<RecordEntry> = {}): Op {
  const rdata = Buffer.from(encodeContent(type, content, { origin: ".", style: "master" })).toString("base64");
  const value: RecordEntry = { zone_id: zoneId, name, type, ttl: 600, content, rdata, proxied: false, ...change };
  return { kind: "record", id: `${zoneId}/${name}/${type}/${content}`, value };
}

/** A certificate that is never opened; only the names that it covers matter. */
export const certificateOp = (zoneId: string, ...hosts: readonly string[]): Op => ({
  kind: "certificate",
  id: hosts.join(),
  value: { zone_id: zoneId, hosts, chain: "", private_key: "", not_after: "2027-01-01T00:00:00Z" },
});
