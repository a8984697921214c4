import { PlatformError } from "#kernel/errors/errors.ts";
import { formatCidr, parseCidr } from "#kernel/net/cidr.ts";
import { isCountry } from "#kernel/net/countries.ts";
import { canonicalIp, isIpv6 } from "#kernel/net/ip.ts";

export type VisitorTarget = "ip" | "ip6" | "ip_range" | "asn" | "country";

export interface Visitors<T extends VisitorTarget = VisitorTarget> {
  readonly target: T;
  readonly value: string;
}

const WANTED: Readonly<Record<VisitorTarget, string>> = {
  ip: "an IP address",
  ip6: "an IP address",
  ip_range: "a range of IP addresses, as in 192.0.2.0/24",
  asn: "the number of an autonomous system above 0, as in AS64496",
  country: "the two letters of a country (ISO 3166-1), as in DE; T1 stands for Tor and XX for unknown places",
};

/** Told beside a rule that no visitor matches, because the edge has no database of places. */
export const NOWHERE_NOTE =
  "This server has no GeoIP database (edge.geoip_databases), so its edge knows the country and the network of nobody: the rule has no effect.";

/** In a canonical form, so that equal visitors are equal texts. Throws `firewall_invalid`. */
export function visitorsOf<T extends VisitorTarget>({ target, value }: Visitors<T>, source: string): Visitors<T> {
  const form = formOf(target, value.trim());
  if (form !== undefined) return form as Visitors<T>;
  throw new PlatformError("firewall_invalid", {
    message: `${JSON.stringify(value)} must be ${WANTED[target]}.`,
    source: `${source}/value`,
  });
}

function formOf(target: VisitorTarget, value: string): Visitors | undefined {
  if (target === "asn") return /^(?:AS)?\d{1,10}$/i.test(value) ? asn(Number(value.replace(/^AS/i, ""))) : undefined;
  if (target === "country") return isCountry(value.toUpperCase()) ? { target, value: value.toUpperCase() } : undefined;
  if (target === "ip_range") {
    const range = parseCidr(value);
    return range && { target, value: formatCidr(range) };
  }
  const address = canonicalIp(value);
  return address === undefined ? undefined : { target: isIpv6(address) ? "ip6" : "ip", value: address };
}

/** No network has the number 0 (RFC 7607). */
const asn = (number: number): Visitors | undefined =>
  number > 0 && number < 2 ** 32 ? { target: "asn", value: `AS${number}` } : undefined;
