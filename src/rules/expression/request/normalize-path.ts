/** Whose view of a path is normalized, and how. */
export interface UrlNormalization {
  /** `incoming`: that of rules; `both`: also the origin's; `none`: nobody's. */
  readonly scope: "incoming" | "both" | "none";
  /** `rfc3986`: RFC 3986 §6.2.2; the other one first makes slashes of backslashes, and one slash of several. */
  readonly type: "cloudflare" | "rfc3986";
}

/**
 * The form that equivalent paths share: escapes of unreserved characters are decoded and others are in upper case, what must be escaped is,
 * and dot segments are resolved. Not an absolute path (`*`): unchanged. Latin-1, one char per byte.
 */
export function normalizedPath(path: string, type: UrlNormalization["type"]): string {
  if (!MAY_CHANGE.test(path) || !path.startsWith("/")) return path;
  const text = type === "rfc3986" ? path : path.replace(SLASHES, "/");
  const escaped = text.replace(ESCAPABLE, escapedOnce);
  return escaped.includes("/.") ? withoutDotSegments(escaped) : escaped;
}

/**
 * The same for a stored path or pattern, which is compared with normalized paths: stars and a query stay, and half an escape before a star
 * has the case of whole ones.
 */
export function normalizedPattern(target: string, { scope, type }: UrlNormalization): string {
  if (scope === "none") return target;
  const question = target.indexOf("?");
  const path = question < 0 ? target : target.slice(0, question);
  return normalizedPath(path, type).replace(/%[a-f](?=\*)/g, (half) => half.toUpperCase()) + target.slice(path.length);
}

/** For what may belong to zones with different settings. */
export const NORMALIZATIONS: readonly UrlNormalization[] = [
  { scope: "incoming", type: "cloudflare" },
  { scope: "incoming", type: "rfc3986" },
];

/** The same for what paths begin with, which may end within a segment: `/a/.` is no dot segment. */
export const normalizedPrefix = (prefix: string, normalization: UrlNormalization): string =>
  normalizedPattern(`${prefix}x`, normalization).slice(0, -1);

/** Most paths have only characters of RFC 3986 §2.2 and §2.3, and neither empty segments nor some that begin with a dot. */
const MAY_CHANGE = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|\/[/.]/;
/** A character that no normalized path has. */
export const ABNORMAL_CHARACTER = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/;
const SLASHES = /[/\\]+/g;
const ESCAPABLE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;

function escapedOnce(found: string): string {
  if (found.length === 1) return `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
  return UNRESERVED.test(character) ? character : found.toUpperCase();
}

/** RFC 3986 §5.2.4. */
function withoutDotSegments(path: string): string {
  const segments = path.slice(1).split("/");
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  const last = segments.at(-1);
  if (last === "." || last === "..") kept.push("");
  return `/${kept.join("/")}`;
}
