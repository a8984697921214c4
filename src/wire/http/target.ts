import { latin1, SLASH } from "./bytes.ts";
import type { Head } from "./parsed-head.ts";
import { type Authority, formatAuthority, parseAuthority } from "./host.ts";
import { createStringInterner } from "./string-interner.ts";

/** Where a request wants to go: its target in origin form and the one authority it names. */
export interface RequestTarget {
  readonly authority: Authority;
  /** Path as received; `*` for the whole server. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Path and query as one string, for the request line. */
  readonly originForm: string;
  /** The head's field lines, each with its CRLF. */
  readonly lines: string;
}

const ABSOLUTE = /^(https?):\/\/([^/?]*)/i;

/**
 * Reads target and Host together (RFC 9112 §3.2), or null where they are malformed or disagree: two
 * servers in a row must never pick two different hosts. `scheme` is how the connection came.
 */
export function readTarget(buffer: Buffer, head: Head, scheme: "http" | "https"): RequestTarget | null {
  const { hostIndex, offsets, targetStart } = head;
  if (hostIndex < 0) return null;
  const authority = readAuthority(recentHost(buffer, offsets[hostIndex * 4 + 2]!, offsets[hostIndex * 4 + 3]!));
  if (authority === null) return null;
  // Pieces of one text are cheaper than one text each.
  const all = latin1(buffer, targetStart, head.end - 2);
  const text = all.slice(0, head.targetEnd - targetStart);
  const lines = all.slice(head.fieldsStart - targetStart);
  if (buffer[targetStart] === SLASH) return split(authority, text, lines);
  if (text === "*") return head.method === "OPTIONS" ? { authority, path: "*", query: "", originForm: "*", lines } : null;
  const absolute = ABSOLUTE.exec(text);
  if (absolute === null || absolute[1]!.toLowerCase() !== scheme) return null;
  const named = parseAuthority(absolute[2]!);
  if (named === null || formatAuthority(named) !== formatAuthority(authority)) return null;
  const rest = text.slice(absolute[0].length);
  return split(authority, rest.startsWith("/") ? rest : `/${rest}`, lines);
}

const recentHost = createStringInterner();

const AUTHORITIES_MAX = 1_000;
const authorities = new Map<string, Authority | null>();

/** Most requests name a host that was just read: its one string object also makes every later look-up by host cheap. */
function readAuthority(text: string): Authority | null {
  let authority = authorities.get(text);
  if (authority !== undefined) return authority;
  authority = parseAuthority(text);
  // Long ones are no host's and would fill the memory instead.
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

/** Percent signs in a path that are no escape (RFC 3986 §2.1), and the escape of NUL: servers cut or decode such paths each their own way. */
const MISREAD = /%(?![0-9A-Fa-f]{2})|%00/;
