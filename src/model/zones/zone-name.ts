import { PlatformError } from "#kernel/errors/errors.ts";
import { hostnameProblem, isListedSuffix, isSpecialUse, isWithin, parseHostname } from "#kernel/net/hostname.ts";

/** Reverse zones are delegated at any label (RFC 1034 §5.2.1, RFC 3596 §2.5). */
const REVERSE = ["in-addr.arpa", "ip6.arpa"] as const;

/**
 * The canonical name of a new zone: any name that is not a public suffix, such as a registrable domain, a subdomain that
 * is delegated from elsewhere, a reverse zone, or a top-level name that does not exist on the Internet (`lan`,
 * `internal`). Does not check ownership (control/ownership). Throws `zone_name_invalid`.
 */
export function zoneName(input: string): string {
  const name = classlessName(input) ?? parseHostname(input);
  if (name === undefined) throw invalid(`The zone name is not a valid host name: ${hostnameProblem(input) ?? "it is not valid"}.`);
  if (REVERSE.some((suffix) => name === suffix || isWithin(suffix, name)) || (isListedSuffix(name) && !isSpecialUse(name)))
    throw invalid(`${name} is a public suffix, below which others register domains.`);
  return name;
}

/** A zone for a part of a /24, which RFC 2317 §4 names with a slash: `0/25.2.0.192.in-addr.arpa`. Undefined for other names. */
function classlessName(input: string): string | undefined {
  const [block = "", ...rest] = input.split(".");
  if (!/^\d{1,3}\/\d{1,2}$/.test(block)) return undefined;
  const parent = parseHostname(rest.join("."));
  const isBelow = parent !== undefined && parent !== REVERSE[0] && isWithin(parent, REVERSE[0]);
  return isBelow ? `${block}.${parent}` : undefined;
}

export const isReverseZone = (name: string): boolean => REVERSE.some((suffix) => isWithin(name, suffix));

/** Reverse zones of addresses without an owner on the Internet (RFC 6303 §4). */
const PRIVATE_REVERSE: readonly string[] = [
  ...["0", "10", "127", "254.169", "168.192", "2.0.192", "100.51.198", "113.0.203", "255.255.255.255"],
  ...Array.from({ length: 16 }, (_, at) => `${16 + at}.172`),
  ...Array.from({ length: 64 }, (_, at) => `${64 + at}.100`),
].map((block) => `${block}.in-addr.arpa`);
const PRIVATE_REVERSE_6: readonly string[] = ["c.f", "d.f", "8.e.f", "9.e.f", "a.e.f", "b.e.f", "0.0.0.0.0.0.0.0", "8.b.d.0.1.0.0.2"].map(
  (block) => `${block}.ip6.arpa`,
);

/** Whether the name has no parent on the Internet that could prove its ownership. */
export const hasNoParent = (name: string): boolean =>
  isSpecialUse(name) || !name.includes(".") || [...PRIVATE_REVERSE, ...PRIVATE_REVERSE_6].some((suffix) => isWithin(name, suffix));

const invalid = (message: string): PlatformError => new PlatformError("zone_name_invalid", { message, source: "/name" });
