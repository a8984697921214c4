import { cidrContains, parseCidr, type Cidr } from "./cidr.ts";
import { type IpAddress, parseIp, unmapIp } from "./ip.ts";

/** Classes of addresses; `global` may appear on the public Internet. */
export type IpClass =
  | "unspecified"
  | "loopback"
  | "private"
  | "shared"
  | "link_local"
  | "metadata"
  | "unique_local"
  | "documentation"
  | "benchmarking"
  | "multicast"
  | "broadcast"
  | "translated"
  | "reserved"
  | "global";

/** The first block that contains the address determines the class: IANA's special-purpose registries (RFC 6890). */
const BLOCKS: readonly (readonly [block: string, ipClass: IpClass])[] = [
  // Metadata services of cloud providers outside the link-local block: Alibaba, Azure, and in unique local addresses
  // Amazon, Google and Oracle.
  ["100.100.100.200/32", "metadata"],
  ["168.63.129.16/32", "metadata"],
  ["fd00:ec2::/32", "metadata"],
  ["fd20:ce::254/128", "metadata"],
  ["fd00:c1::a9fe:a9fe/128", "metadata"],
  ["0.0.0.0/32", "unspecified"],
  ["0.0.0.0/8", "reserved"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link_local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "documentation"],
  // RFC 7526: deprecated anycast relays of 6to4.
  ["192.88.99.0/24", "translated"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  // RFC 6052 and RFC 8215: embeds an IPv4 address.
  ["64:ff9b::/96", "translated"],
  ["64:ff9b:1::/48", "translated"],
  ["100::/64", "reserved"],
  ["2001:2::/48", "benchmarking"],
  ["2001:db8::/32", "documentation"],
  ["2001::/23", "reserved"],
  ["2002::/16", "translated"],
  ["3fff::/20", "documentation"],
  ["fc00::/7", "unique_local"],
  ["fe80::/10", "link_local"],
  ["ff00::/8", "multicast"],
  // Only 2000::/3 is assigned for global unicast (RFC 4291 §2.4).
  ["2000::/3", "global"],
  ["::/0", "reserved"],
];

const TABLE: readonly { readonly cidr: Cidr; readonly ipClass: IpClass }[] = BLOCKS.map(([block, ipClass]) => {
  const cidr = parseCidr(block);
  if (!cidr) throw new Error(`not a block: ${block}`);
  return { cidr, ipClass };
});

/** The class of an address; `::ffff:a.b.c.d` has the class of the IPv4 address. */
export function classifyIp(address: IpAddress): IpClass {
  const plain = unmapIp(address);
  for (const row of TABLE) if (cidrContains(row.cidr, plain)) return row.ipClass;
  return "global";
}

const LOCAL_CLASSES: ReadonlySet<IpClass> = new Set(["loopback", "private", "shared", "link_local", "metadata", "unique_local"]);

/** Whether the address belongs to this machine or its own network. */
export const isLocalIp = (address: IpAddress): boolean => LOCAL_CLASSES.has(classifyIp(address));

/** Whether the text is an address that may appear on the public Internet. */
export function isGlobalAddress(text: string): boolean {
  const address = parseIp(text);
  return address !== undefined && classifyIp(address) === "global";
}
