import { domainToASCII, domainToUnicode } from "node:url";
import { getDomain, getPublicSuffix } from "tldts";

export interface HostnameOptions {
  /** Accept `*` as the first label, as certificates and DNS owners do. */
  readonly wildcard?: boolean;
  /** Accept underscores, as service labels and DNS owners do (RFC 8552). */
  readonly underscores?: boolean;
}

/**
 * The canonical form of a host name: lower case, A-labels, no trailing dot. Undefined where it is none;
 * `hostnameProblem` says why. Takes U-labels and one trailing dot.
 */
export function parseHostname(text: string, options: HostnameOptions = {}): string | undefined {
  const name = toAscii(text);
  return name === undefined || nameProblem(name, options) !== undefined ? undefined : name;
}

/** Why the text is no host name, as a clause such as "the label \"a b\" holds …"; undefined where it is one. */
export function hostnameProblem(text: string, options: HostnameOptions = {}): string | undefined {
  const name = toAscii(text);
  return name === undefined ? "it holds characters that no host name can have" : nameProblem(name, options);
}

/** For people: U-labels instead of A-labels. */
export const unicodeHostname = (name: string): string => domainToUnicode(name) || name;

/** `name` itself or anything below it, both in canonical form. */
export const isWithin = (name: string, parent: string): boolean =>
  name === parent || (name.length > parent.length && name.endsWith(parent) && name.charCodeAt(name.length - parent.length - 1) === DOT);

const DOT = 46;

/** `*.example.com` covers exactly one more label (RFC 6125 §6.4.3). Both in canonical form. */
export function hostnameMatches(pattern: string, name: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === name;
  const dot = name.indexOf(".");
  return dot > 0 && name.slice(dot + 1) === pattern.slice(2);
}

/** The name that somebody can register: one label below the public suffix; undefined for a suffix itself. */
export const registrableDomain = (name: string): string | undefined => getDomain(name, SUFFIX_OPTIONS) ?? undefined;

/** `com`, `co.uk`, `github.io`; an unlisted top-level domain is its own suffix (publicsuffix.org, default rule `*`). */
export const isPublicSuffix = (name: string): boolean => getPublicSuffix(name, SUFFIX_OPTIONS) === name;

// The names come parsed; suffixes that companies registered separate their customers as well.
const SUFFIX_OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/** Names that never exist in the public DNS: RFC 6761, 7686, 8375 and 9476, and ICANN's `internal`. */
const SPECIAL_USE = ["test", "localhost", "invalid", "example", "local", "onion", "alt", "internal", "home.arpa"] as const;

/** Whether a public certificate authority or resolver can never serve the name. */
export const isSpecialUse = (name: string): boolean => SPECIAL_USE.some((suffix) => isWithin(name, suffix));

/** RFC 1035 §2.3.4: 255 octets on the wire are 253 characters written out. */
export const HOSTNAME_LENGTH_MAX = 253;
export const LABEL_LENGTH_MAX = 63;

function toAscii(text: string): string | undefined {
  // Longer than any name in U-labels can be; UTS 46 should not be fed with more.
  if (text.length > 1024) return undefined;
  let name = text;
  if (NON_ASCII.test(text)) {
    // domainToASCII reads like a URL parser: it would decode "%" and cut at "/".
    if (!URL_SAFE.test(text)) return undefined;
    name = domainToASCII(text);
    if (name === "") return undefined;
  }
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

// Negated printable ASCII: control characters count as "other" and fail below.
const NON_ASCII = /[^ -~]/;
const URL_SAFE = /^(?:[A-Za-z0-9._*-]|[^ -~])*$/;

function nameProblem(name: string, options: HostnameOptions): string | undefined {
  if (name === "") return "it is empty";
  if (name.length > HOSTNAME_LENGTH_MAX) return `it is longer than ${HOSTNAME_LENGTH_MAX} characters`;
  const labels = name.split(".");
  const first = options.wildcard === true && labels[0] === "*" && labels.length > 1 ? 1 : 0;
  for (let i = first; i < labels.length; i++) {
    const problem = labelProblem(labels[i] ?? "", options);
    if (problem !== undefined) return problem;
  }
  // A numeric last label is an IPv4 address to URL parsers (RFC 3696 §2).
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
