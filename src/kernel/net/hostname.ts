import { domainToASCII, domainToUnicode } from "node:url";
import { getDomain, getPublicSuffix, parse } from "tldts";

export interface HostnameOptions {
  /** Accept `*` as the first label, as in certificates and DNS. */
  readonly wildcard?: boolean;
  /** Accept underscores, as in service labels and DNS (RFC 8552). */
  readonly underscores?: boolean;
}

/**
 * The canonical form of a host name: lower case, A-labels, no trailing dot. Accepts U-labels and one trailing dot.
 * Undefined if invalid; `hostnameProblem` says why.
 */
export function parseHostname(text: string, options: HostnameOptions = {}): string | undefined {
  const name = toAscii(text);
  return name === undefined || nameProblem(name, options) !== undefined ? undefined : name;
}

/** Why the text is not a host name, as a clause such as "the label \"a b\" holds …"; undefined if it is valid. */
export function hostnameProblem(text: string, options: HostnameOptions = {}): string | undefined {
  const name = toAscii(text);
  return name === undefined ? "it holds characters that no host name can have" : nameProblem(name, options);
}

/** The name for display, with U-labels instead of A-labels. */
export const unicodeHostname = (name: string): string => domainToUnicode(name) || name;

/** Whether `name` is `parent` or below it; both in canonical form. */
export const isWithin = (name: string, parent: string): boolean =>
  name === parent || (name.length > parent.length && name.endsWith(parent) && name.charCodeAt(name.length - parent.length - 1) === DOT);

const DOT = 46;

/** Whether the pattern matches; `*.example.com` covers exactly one more label (RFC 6125 §6.4.3). Both in canonical form. */
export function hostnameMatches(pattern: string, name: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === name;
  const dot = name.indexOf(".");
  return dot > 0 && name.slice(dot + 1) === pattern.slice(2);
}

/** The registrable domain: one label below the public suffix; undefined for a suffix. */
export const registrableDomain = (name: string): string | undefined => getDomain(name, SUFFIX_OPTIONS) ?? undefined;

/**
 * Whether the name is a public suffix such as `com`, `co.uk` or `github.io`; an unlisted top-level domain is its own
 * suffix (publicsuffix.org, default rule `*`).
 */
export const isPublicSuffix = (name: string): boolean => getPublicSuffix(name, SUFFIX_OPTIONS) === name;

/** The same without that default rule: false for suffixes that do not exist on the Internet, such as `lan`. */
export function isListedSuffix(name: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(name, SUFFIX_OPTIONS);
  return publicSuffix === name && (isIcann === true || isPrivate === true);
}

// The names are already parsed. Private suffixes count, because they separate the customers of a company.
const SUFFIX_OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/** Names that never exist in public DNS: RFC 6761, 7686, 8375 and 9476, and ICANN's `internal`. */
const SPECIAL_USE = ["test", "localhost", "invalid", "example", "local", "onion", "alt", "internal", "home.arpa"] as const;

/** Standards that keep a name and those below it out of the DNS. */
const KEPT_OUT: Readonly<Record<string, string>> = {
  localhost: "RFC 6761",
  invalid: "RFC 6761",
  local: "RFC 6762",
  onion: "RFC 7686",
  alt: "RFC 9476",
};

/** The standard that keeps the name out of the DNS, which programs therefore do not ask for it; undefined for other names. */
export const reservedBy = (name: string): string | undefined => KEPT_OUT[name.slice(name.lastIndexOf(".") + 1)];

/** Whether no public certificate authority or resolver can serve the name. */
export const isSpecialUse = (name: string): boolean => SPECIAL_USE.some((suffix) => isWithin(name, suffix));

/** RFC 1035 §2.3.4: 255 octets on the wire are 253 characters of text. */
export const HOSTNAME_LENGTH_MAX = 253;
export const LABEL_LENGTH_MAX = 63;

function toAscii(text: string): string | undefined {
  // Longer than any name in U-labels; limits the work of UTS 46.
  if (text.length > 1024) return undefined;
  let name = text;
  if (NON_ASCII.test(text)) {
    // domainToASCII parses like a URL: it would decode "%" and cut at "/".
    if (!URL_SAFE.test(text)) return undefined;
    name = domainToASCII(text);
    if (name === "") return undefined;
  }
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

// Control characters are ASCII here: URL parsers silently remove tabs and line breaks from a name.
const NON_ASCII = /[\u0080-\u{10ffff}]/u;
const URL_SAFE = /^(?:[A-Za-z0-9._*-]|[\u0080-\u{10ffff}])*$/u;

function nameProblem(name: string, options: HostnameOptions): string | undefined {
  if (name === "") return "it is empty";
  if (name.length > HOSTNAME_LENGTH_MAX) return `it is longer than ${HOSTNAME_LENGTH_MAX} characters`;
  const labels = name.split(".");
  const first = options.wildcard === true && labels[0] === "*" && labels.length > 1 ? 1 : 0;
  for (let i = first; i < labels.length; i++) {
    const problem = labelProblem(labels[i] ?? "", options);
    if (problem !== undefined) return problem;
  }
  // URL parsers treat a numeric last label as an IPv4 address (RFC 3696 §2).
  return /^\d+$/.test(labels.at(-1) ?? "") ? "its last label is a number" : undefined;
}

function labelProblem(label: string, options: HostnameOptions): string | undefined {
  if (label === "") return "it has an empty label";
  if (label.length > LABEL_LENGTH_MAX) return `the label "${label.slice(0, 20)}…" is longer than ${LABEL_LENGTH_MAX} characters`;
  const pattern = options.underscores === true ? LABEL_WITH_UNDERSCORES : LABEL;
  if (pattern.test(label)) return undefined;
  if (label.startsWith("-") || label.endsWith("-")) return `the label "${label}" starts or ends with a hyphen`;
  return `the label "${label}" holds something other than letters, digits and hyphens`;
}

// RFC 1123 §2.1.
// linear: pumped
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
// linear: pumped
const LABEL_WITH_UNDERSCORES = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
