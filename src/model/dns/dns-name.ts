import { domainToASCII } from "node:url";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isReverseZone } from "#model/zones/zone-name.ts";
import { formatName, isWithin, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { RdataError } from "#wire/dns/errors.ts";

const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

/** Printable ASCII that needs no escape in presentation format (RFC 1035 §5.1), less the dot. */
const LABEL = /^[!#-'*+,\-/0-9:<=>?A-Z[\]^_`a-z{|}~]+$/;
/** SPEC 2.2: letters, digits and hyphens; underscores are allowed. Ends with a letter or digit. */
// linear: pumped
const ADDRESS_LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?$/;
/** SPEC 2.2: the name starts with a letter; the underscore stands for the service labels that CNAMEs carry. */
const ADDRESS_START = /^[a-z_]/;

/**
 * What names of A, AAAA and CNAME records may be. `letter_first`: SPEC 2.2. `rfc1123`: they may also start with a digit
 * (RFC 1123 §2.1). `any`: whatever another nameserver can have in a zone, escapes included (RFC 2181 §11).
 */
export type NameRule = "letter_first" | "rfc1123" | "any";

/** Types whose names follow the stricter rules of SPEC 2.2. */
const ADDRESS_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);

/**
 * The absolute owner name, lower case, in A-label form and without the final dot. Takes `@`, a name relative
 * to the zone, or one that ends in the zone's name; Unicode becomes A-labels (RFC 5891). In reverse zones names are
 * numbers, and may have a slash (RFC 2317 §4), so there the rule is `any`. Throws `dns_name_invalid`.
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

/** Only what is not ASCII goes through IDNA, which would refuse underscores and asterisks. */
function labelToAscii(label: string): string {
  if (/^[\0-\x7f]*$/.test(label)) return label.toLowerCase();
  // domainToASCII reads like a URL parser, so it gets nothing that means something in a URL.
  const ascii = /^(?:[A-Za-z0-9-]|[^\0-\x7f])+$/.test(label) ? domainToASCII(label) : "";
  if (!/^[a-z0-9-]+$/.test(ascii)) throw invalid(`${JSON.stringify(label)} cannot be converted to ASCII`);
  return ascii;
}

/** An absolute name in presentation format, whose labels may hold any byte. */
function escapedName(input: string, zoneName: string, type: string): string {
  try {
    const name = parseAbsoluteName(input);
    const zone = parseAbsoluteName(zoneName);
    if (!isWithin(keyOf(name), keyOf(zone))) throw invalid(`${input} is not in the zone ${zoneName}`);
    const relative = Buffer.concat([name.subarray(0, name.length - zone.length), zone.subarray(-1)]);
    checkPlace(relative.length === 1 ? "" : formatName(relative), type, "any");
    // The API writes this character plainly; only zone files have to escape it.
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
    throw invalid("the name of an address must start with a letter (a server with dns.names = rfc1123 also takes a digit)");
}

/** Names that a type can have in a zone; empty is the zone's own. */
const PLACES: ReadonlyMap<string, readonly [relative: RegExp, otherwise: string]> = new Map([
  // RFC 4035 §2.4: at a delegation, on the side of the parent.
  ["DS", [/./, "DS records of the zone itself belong in its parent zone"]],
  // SPEC 2.2. A wildcard may stand for every service (RFC 2782, RFC 4592).
  ["SRV", [/^(?:_[^.]+|\*)\._[^.]+(?:\.|$)/, "the name of an SRV record begins with a service and a protocol, as _sip._tcp does"]],
]);

function checkPlace(relative: string, type: string, rule: NameRule): void {
  // Other servers serve SRV records under any name.
  const place = type === "SRV" && rule === "any" ? undefined : PLACES.get(type);
  if (place && !place[0].test(relative)) throw invalid(place[1]);
}

const invalid = (why: string): PlatformError =>
  new PlatformError("dns_name_invalid", { message: `DNS name is invalid: ${why}.`, source: "/name" });
