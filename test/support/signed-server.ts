import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { NameserverConfig } from "#nameserver/config.ts";
import type { DnssecKeyEntry, Op } from "#snapshot/entries.ts";
import { createMemoryReplica, type MemoryReplica } from "#snapshot/memory-replica.ts";
import { dnskeyRdata, dsRdata } from "#wire/dns/dnssec-key.ts";
import { presentationText } from "#wire/dns/record-types.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "./nameserver.ts";
import { recordOp, serialOp, zoneOp } from "./zone-entries.ts";
import { dnssecOp, zoneKey } from "./zone-keys.ts";

/** A signed zone with all that answers can be about, a signed and an unsigned child, and a nameserver that serves them. */
export interface SignedServer {
  readonly port: number;
  readonly replica: MemoryReplica;
  /** Of the parent, `signed.test`. */
  readonly key: DnssecKeyEntry;
  close(): Promise<void>;
}

export const keyRdata = (key: DnssecKeyEntry): Buffer => dnskeyRdata(Buffer.from(key.public_key, "base64"));
const dsText = (zone: string, key: DnssecKeyEntry): string => presentationText("DS", dsRdata(zone, keyRdata(key)));

/** A line of a file of trust anchors, as Unbound, drill and ldns-verify-zone read it. */
export const anchorText = (zone: string, key: DnssecKeyEntry): string =>
  `${zone}. 3600 IN DNSKEY ${presentationText("DNSKEY", keyRdata(key))}\n`;

const SOURCES = { name_servers: ["ns1.signed.test", "ns2.signed.test"], ns_ttl: 3600 };

export function signedZones(key: DnssecKeyEntry, child: DnssecKeyEntry): readonly Op[] {
  const record = (name: string, type: string, content: string, change = {}): Op =>
    recordOp("parent", `${name}${name && "."}signed.test`, type, content, change);
  return [
    zoneOp("parent", "signed.test", SOURCES),
    serialOp("parent", 1),
    dnssecOp("parent", [key], [key.id]),
    ...["ns1", "ns2"].map((name) => record(name, "A", "127.0.0.1")),
    record("", "MX", "10 mail.signed.test."),
    record("", "TXT", '"v=spf1 -all"'),
    record("mail", "A", "192.0.2.25"),
    record("mail", "AAAA", "2001:db8::25"),
    record("www", "CNAME", "mail.signed.test."),
    record("broken", "CNAME", "gone.signed.test."),
    record("proxied", "A", "192.0.2.9", { proxied: true }),
    record("a.deep.ent", "TXT", '"below an empty name"'),
    record("*.wild", "TXT", '"any"'),
    record("moved", "DNAME", "child.signed.test."),
    record("odd\\000\\046name", "TXT", '"bytes"'),
    record("capitals", "SRV", "1 2 5060 MAIL.Signed.Test."),
    record("unknown", "TYPE65280", "\\# 3 010203"),
    record("large", "TXT", `"${"x".repeat(255)}" `.repeat(6)),
    record("child", "NS", "ns1.signed.test."),
    record("child", "DS", dsText("child.signed.test", child)),
    record("plain", "NS", "ns1.signed.test."),
    zoneOp("child", "child.signed.test", SOURCES),
    serialOp("child", 1),
    dnssecOp("child", [child]),
    recordOp("child", "www.child.signed.test", "A", "192.0.2.30"),
    zoneOp("plain", "plain.signed.test", SOURCES),
    serialOp("plain", 1),
    recordOp("plain", "www.plain.signed.test", "A", "192.0.2.40"),
    // This zone has no delegation.
    zoneOp("unwritten", "unwritten.signed.test", SOURCES),
    serialOp("unwritten", 1),
    recordOp("unwritten", "www.unwritten.signed.test", "A", "192.0.2.50"),
  ];
}

export async function startSignedServer(config: Partial<NameserverConfig> = {}, more: readonly Op[] = []): Promise<SignedServer> {
  const [key, child] = [zoneKey("parent"), zoneKey("child")];
  const replica = createMemoryReplica([...signedZones(key, child), ...more]);
  const nameserver = createNameserver({
    ...NAMESERVER_PARTS,
    replica,
    metrics: createMetrics(),
    config: nameserverConfig({ edgeAddresses: ["203.0.113.7", "2001:db8::7"], ...config }),
  });
  const { udp: port } = await nameserver.listen();
  return { port, replica, key, close: () => nameserver.close(100) };
}
