import { latin1, SLASH } from "./bytes.ts";
import type { Head } from "./parsed-head.ts";
import { type Authority, isSameAuthority, parseAuthority } from "./host.ts";
import { createStringInterner } from "./string-interner.ts";

/** The target of a request in origin form, and its authority. */
export interface RequestTarget {
  readonly authority: Authority;
  /** Path as received, in ASCII; `*` for the whole server. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Path and query as one string, for the request line. */
  readonly originForm: string;
  /** The head's field lines, each with CRLF. */
  readonly lines: string;
}

const ABSOLUTE = /^(https?):\/\/([^/?]*)/i;

/**
 * Reads target and Host together (RFC 9112 §3.2); null if they are malformed or disagree, because two servers in sequence
 * must never choose different hosts. `scheme`: that of the connection.
 */
export function readTarget(buffer: Buffer, head: Head, scheme: "http" | "https"): RequestTarget | null {
  const { hostIndex, offsets, targetStart } = head;
  if (hostIndex < 0) return null;
  const authority = readAuthority(recentHost(buffer, offsets[hostIndex * 4 + 2]!, offsets[hostIndex * 4 + 3]!));
  if (authority === null) return null;
  // Slices of one string are cheaper than separate strings.
  const all = latin1(buffer, targetStart, head.end - 2);
  const text = escapedTarget(all.slice(0, head.targetEnd - targetStart), head);
  const lines = all.slice(head.fieldsStart - targetStart);
  if (buffer[targetStart] === SLASH) return split(authority, text, lines);
  if (text === "*") return head.method === "OPTIONS" ? { authority, path: "*", query: "", originForm: "*", lines } : null;
  const absolute = ABSOLUTE.exec(text);
  if (absolute === null || absolute[1]!.toLowerCase() !== scheme) return null;
  const named = parseAuthority(absolute[2]!);
  if (named === null || !isSameAuthority(named, authority, scheme)) return null;
  const rest = text.slice(absolute[0].length);
  return split(authority, rest.startsWith("/") ? rest : `/${rest}`, lines);
}

/**
 * The target of a request, with bytes beyond ASCII as escapes (RFC 3986 §2.1). Browsers send these, some other clients send the bytes, and
 * servers that pass them on disagree about what they mean (ADR 0277).
 */
export const targetText = (buffer: Buffer, head: Head): string => escapedTarget(latin1(buffer, head.targetStart, head.targetEnd), head);

const escapedTarget = (text: string, { hasOctets }: Head): string =>
  hasOctets ? text.replace(/[\x80-\xff]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`) : text;

const recentHost = createStringInterner();

const AUTHORITIES_MAX = 1_000;
const authorities = new Map<string, Authority | null>();

/** Caches parsed hosts: most requests repeat one, and the shared string object makes later lookups by host cheap. */
function readAuthority(text: string): Authority | null {
  let authority = authorities.get(text);
  if (authority !== undefined) return authority;
  authority = parseAuthority(text);
  // Longer texts cannot be host names, and would fill the memory.
  if (text.length > 300) return authority;
  if (authorities.size >= AUTHORITIES_MAX) authorities.clear();
  authorities.set(text, authority);
  return authority;
}

function split(authority: Authority, originForm: string, lines: string): RequestTarget | null {
  const question = originForm.indexOf("?");
  const path = question < 0 ? originForm : originForm.slice(0, question);
  if (path.includes("%") && MISREAD.test(path)) return null;
  return { authority, path, query: question < 0 ? "" : originForm.slice(question + 1), originForm, lines };
}

/**
 * Percent signs in a path that are not escapes (RFC 3986 §2.1), and the escape of NUL: servers interpret such paths
 * differently.
 */
const MISREAD = /%(?![0-9A-Fa-f]{2})|%00/;
