import { domainToASCII } from "node:url";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isReverseZone } from "#model/zones/zone-name.ts";
import { formatName, isWithin, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { RdataError } from "#wire/dns/errors.ts";

const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/** Printable ASCII that needs no escape in presentation format (RFC 1035 §5.1), except the dot. */
const LABEL = /^[!#-'*+,\-/0-9:<=>?A-Z[\]^_`a-z{|}~]+$/;
/** SPEC 2.2: letters, digits and hyphens; underscores are allowed. Ends with a letter or digit. */
// linear: pumped
const ADDRESS_LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?$/;
/** SPEC 2.2: the name starts with a letter; the underscore stands for the service labels that CNAMEs carry. */
const ADDRESS_START = /^[a-z_]/;

/**
 * Rule for names of A, AAAA and CNAME records. `letter_first`: SPEC 2.2. `rfc1123`: may also start with a digit (RFC 1123
 * §2.1). `any`: every name that another nameserver accepts, including escapes (RFC 2181 §11).
 */
export type NameRule = "letter_first" | "rfc1123" | "any";

/** Types with the stricter rules of SPEC 2.2 for names. */
const ADDRESS_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);

/**
 * The absolute owner name: lower case, A-labels, no final dot. Accepts `@`, a name relative to the zone, or one that ends
 * with the zone's name; converts Unicode to A-labels (RFC 5891). Use `any` for reverse zones, whose labels are numbers
 * and may contain a slash (RFC 2317 §4). Throws `dns_name_invalid`.
 */
export function ownerName(input: string | undefined, zoneName: string, type: string, rule: NameRule = "letter_first"): string {
  if (typeof input !== "string" || input === "") throw invalid("a name is required");
  if (input.length > 1000) throw invalid("the name is too long");
  if (rule === "any" && input.includes("\\")) return escapedName(input, zoneName, type);
  const ascii = toAscii(input);
  if (ascii === "@" || ascii === zoneName || ascii === `${zoneName}.`) {
    checkPlace("", type, rule);
    return zoneName;
  }
  const rooted = ascii.endsWith(".");
  const name = rooted ? ascii.slice(0, -1) : ascii;
  const inside = name.endsWith(`.${zoneName}`);
  if (rooted && !inside) throw invalid(`${name} is not in the zone ${zoneName}`);
  const relative = inside ? name.slice(0, -zoneName.length - 1) : name;
  checkLabels(relative, isReverseZone(zoneName) ? "any" : ADDRESS_TYPES.has(type) ? rule : "any");
  checkPlace(relative, type, rule);
  const absolute = `${relative}.${zoneName}`;
  if (absolute.length > NAME_LENGTH_MAX) throw invalid(`${absolute.length} characters are more than ${NAME_LENGTH_MAX}`);
  return absolute;
}

/** Ideographic full stops separate labels as well (RFC 3490 §3.1). */
const toAscii = (input: string): string =>
  input
    .split(/[.\u3002\uff0e\uff61]/)
    .map(labelToAscii)
    .join(".");

/** Only non-ASCII labels are converted, because IDNA would refuse underscores and asterisks. */
function labelToAscii(label: string): string {
  if (/^[\0-\x7f]*$/.test(label)) return label.toLowerCase();
  // domainToASCII parses URL hosts, so labels with characters that have a meaning in URLs are refused.
  const ascii = /^(?:[A-Za-z0-9-]|[^\0-\x7f])+$/.test(label) ? domainToASCII(label) : "";
  if (!/^[a-z0-9-]+$/.test(ascii)) throw invalid(`${JSON.stringify(label)} cannot be converted to ASCII`);
  return ascii;
}

/** An absolute name in presentation format, whose labels may contain any byte. */
function escapedName(input: string, zoneName: string, type: string): string {
  try {
    const name = parseAbsoluteName(input);
    const zone = parseAbsoluteName(zoneName);
    if (!isWithin(keyOf(name), keyOf(zone))) throw invalid(`${input} is not in the zone ${zoneName}`);
    const relative = Buffer.concat([name.subarray(0, name.length - zone.length), zone.subarray(-1)]);
    checkPlace(relative.length === 1 ? "" : formatName(relative), type, "any");
    // In the API this character needs no escape; only in zone files.
    return formatName(name).replaceAll("\\$", "$").toLowerCase();
  } catch (error) {
    throw error instanceof RdataError ? invalid(`the name ${error.message}`) : error;
  }
}

function checkLabels(relative: string, rule: NameRule): void {
  const labels = relative.split(".");
  const strict = rule !== "any";
  for (const [index, label] of labels.entries()) {
    if (label === "") throw invalid("a label is empty");
    if (label.length > LABEL_LENGTH_MAX) throw invalid(`the label ${label.slice(0, 16)}… has more than ${LABEL_LENGTH_MAX} characters`);
    if (!LABEL.test(label)) throw invalid(`the label ${JSON.stringify(label)} has a character that is not allowed`);
    // RFC 4592 §2.1.1: an asterisk is a wildcard only as the whole first label.
    if (!strict || (index === 0 && label === "*")) continue;
    if (!ADDRESS_LABEL.test(label))
      throw invalid(`the label ${label} of an address must contain only letters, digits and hyphens and end with a letter or digit`);
  }
  const first = labels[0] === "*" ? labels[1] : labels[0];
  if (rule === "letter_first" && first !== undefined && !ADDRESS_START.test(first))
    throw invalid("the name of an address must start with a letter (a server with dns.names = rfc1123 also allows a digit)");
}

/** Names, relative to the zone, at which a type can exist; empty: the apex. */
const PLACES: ReadonlyMap<string, readonly [relative: RegExp, otherwise: string]> = new Map([
  // RFC 4035 §2.4: DS records exist at a delegation in the parent zone.
  ["DS", [/./, "DS records of the zone itself belong in its parent zone"]],
  // SPEC 2.2. A wildcard may replace the service label (RFC 2782, RFC 4592).
  ["SRV", [/^(?:_[^.]+|\*)\._[^.]+(?:\.|$)/, "the name of an SRV record begins with a service and a protocol, as _sip._tcp does"]],
]);

function checkPlace(relative: string, type: string, rule: NameRule): void {
  // Other nameservers accept SRV records at any name.
  const place = type === "SRV" && rule === "any" ? undefined : PLACES.get(type);
  if (place && !place[0].test(relative)) throw invalid(place[1]);
}

const invalid = (why: string): PlatformError =>
  new PlatformError("dns_name_invalid", { message: `DNS name is invalid: ${why}.`, source: "/name" });
