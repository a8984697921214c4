import { createCidrSet } from "#kernel/net/cidr.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin, parseHostname } from "#kernel/net/hostname.ts";
import type { AccessAppWrite, AccessDestination } from "#model/access/access-app.ts";

type Fields = Pick<AccessAppWrite, "destinations" | "domain">;

/** Throws `access_app_invalid` for an invalid destination, and with a zone also for names outside it. */
export function checkDestinations({ destinations = [], domain }: Fields, type: string, zoneName: string | undefined): void {
  destinations.forEach((destination, index) => checkDestination(destination, `/destinations/${index}`, zoneName));
  // A bookmark may link anywhere.
  if (domain !== undefined && type !== "bookmark") checkUri(domain, "/domain", zoneName);
}

export const invalidAccessApp = (source: string, message: string): PlatformError =>
  new PlatformError("access_app_invalid", { message, source });

/** The public destinations, with their paths. */
export const hostsOf = ({ destinations = [] }: Fields): string[] =>
  destinations.flatMap((destination) => ("uri" in destination ? [canonical(destination.uri)] : []));

const canonical = (uri: string): string => {
  const { host, rest } = partsOf(uri);
  return `${host.toLowerCase()}${rest.replace(/\/$/, "")}`;
};

function partsOf(uri: string): { readonly host: string; readonly rest: string } {
  const slash = uri.indexOf("/");
  return slash < 0 ? { host: uri, rest: "" } : { host: uri.slice(0, slash), rest: uri.slice(slash) };
}

function checkDestination(destination: AccessDestination, place: string, zoneName: string | undefined): void {
  if ("uri" in destination) return checkUri(destination.uri, `${place}/uri`, zoneName);
  if (destination.type !== "private") return;
  const { cidr, hostname } = destination;
  if ((cidr === undefined) === (hostname === undefined))
    throw invalidAccessApp(place, "A private destination must have either cidr or hostname.");
  if (hostname !== undefined && parseHostname(hostname) === undefined)
    throw invalidAccessApp(`${place}/hostname`, `${hostname} is not a valid host name.`);
  if (cidr !== undefined && !isCidr(cidr))
    throw invalidAccessApp(`${place}/cidr`, `${cidr} is not a network in CIDR notation, such as 10.5.0.0/24.`);
}

function isCidr(text: string): boolean {
  try {
    return createCidrSet([text]).size === 1;
  } catch {
    return false;
  }
}

function checkUri(uri: string, place: string, zoneName: string | undefined): void {
  const { host, rest } = partsOf(uri);
  const name = host.replace(/:\d{1,5}$/, "");
  // An asterisk matches a label or a part of one.
  const parsed = parseHostname(name.replaceAll("*", "x"));
  if (parsed === undefined || /[\s?#]/.test(rest))
    throw invalidAccessApp(
      place,
      `${uri} is not a host name with an optional path, such as app.example.com/admin, without a scheme, query or fragment.`,
    );
  if (zoneName !== undefined && !isWithin(parsed, zoneName)) throw invalidAccessApp(place, `${name} is not in the zone ${zoneName}.`);
}
