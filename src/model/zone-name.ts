import { PlatformError } from "#kernel/errors.ts";
import { hostnameProblem, isPublicSuffix, isSpecialUse, isWithin, parseHostname, registrableDomain } from "#kernel/hostname.ts";

/** Reverse zones are delegated at any label (RFC 1034 §5.2.1, RFC 3596 §2.5). */
const REVERSE = ["in-addr.arpa", "ip6.arpa"] as const;

/**
 * The canonical name of a zone to create: a domain that can be registered, a reverse zone, or any name below
 * a special-use domain, so that people can rehearse with names such as `example.test`.
 * Throws `zone_name_invalid` or `zone_not_root`.
 */
export function zoneName(input: string): string {
  const name = parseHostname(input);
  if (name === undefined) throw invalid(`The zone name is no host name: ${hostnameProblem(input) ?? "it is not valid"}.`);
  if (isSpecialUse(name)) {
    if (name.includes(".")) return name;
    throw invalid(`${name} is a top-level domain, not a zone below one.`);
  }
  if (REVERSE.some((suffix) => name !== suffix && isWithin(name, suffix))) return name;
  const registrable = registrableDomain(name);
  if (registrable === undefined || isPublicSuffix(name)) throw invalid(`${name} is a public suffix, not a domain that can be registered.`);
  if (registrable !== name)
    throw new PlatformError("zone_not_root", {
      source: "/name",
      message: `${name} is a subdomain of ${registrable}; create the zone of the root domain.`,
    });
  return name;
}

const invalid = (message: string): PlatformError => new PlatformError("zone_name_invalid", { message, source: "/name" });
