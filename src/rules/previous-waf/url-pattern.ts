import { normalizedPattern, type UrlNormalization } from "#rules/expression/request/normalize-path.ts";

/**
 * URLs with stars, as in page rules, overrides and rate limits: `*example.com/admin/*`, with or without a scheme. A
 * star in the host matches a part of the host and one in the path a part of the path, so that a query cannot bypass a
 * rule. Without a star at its end a pattern matches only that exact end.
 */
export function urlExpression(pattern: string): string {
  const { scheme, host, path } = partsOf(pattern);
  const tests = [
    ...(scheme === "*" ? [] : [scheme === "https" ? "ssl" : "not ssl"]),
    ...(host === "*" ? [] : [`http.host wildcard r"${host}"`]),
    ...(path === "*" || path === "/*" ? [] : [`http.request.uri strict wildcard r"${path}"`]),
  ];
  return tests.length === 0 ? "true" : `(${tests.join(" and ")})`;
}

/**
 * The URLs that a lockdown protects: a pattern without a query covers each query, and a path as rules see it, as received and decoded, since
 * origins decode it.
 */
export function lockedUrlExpression(pattern: string): string {
  const { scheme, host, path } = partsOf(pattern);
  if (path === "*" || path.includes("?")) return urlExpression(pattern);
  const around = urlExpression(`${scheme}://${host}/*`);
  const places = ["http.request.uri.path", "raw.http.request.uri.path", "url_decode(raw.http.request.uri.path)"].map(
    (field) => `${field} strict wildcard r"${path}"`,
  );
  const locked = `(${places.join(" or ")})`;
  return around === "true" ? locked : `(${around} and ${locked})`;
}

/** The pattern whose path is compared with normalized ones. */
export function normalUrlPattern(pattern: string, normalization: UrlNormalization): string {
  const [base = ""] = /^(?:(?:https?|\*):\/\/)?[^/]*/i.exec(pattern) ?? [];
  return base + normalizedPattern(pattern.slice(base.length), normalization);
}

/** The problem of a pattern, or null. */
export function urlPatternProblem(pattern: string): string | null {
  if (pattern.length === 0 || pattern.length > PATTERN_CHARACTERS_MAX) return `must have 1 to ${PATTERN_CHARACTERS_MAX} characters`;
  if (!/^[\x21-\x7e]+$/.test(pattern) || /["\\#]/.test(pattern))
    return String.raw`must be printable ASCII without spaces and without " \ #`;
  if (pattern.includes("**")) return "must not have two stars in a row";
  const { host, port, path } = partsOf(pattern);
  if (!/^[a-z0-9.*_-]+$/i.test(host)) return "must start with a host name, in which * matches any part";
  if (port > PORT_MAX) return `must have a port of at most ${PORT_MAX}, or none`;
  // The edge refuses requests with such paths.
  return /%(?!\*|[0-9a-f]\*|[0-9a-f]{2})|%00/i.test(path.split("?", 1)[0] ?? "")
    ? "must have two hexadecimal digits after each % of its path, and no %00"
    : null;
}

/** The host of a pattern in lower case, with its stars and without its port. */
export const urlPatternHost = (pattern: string): string => partsOf(pattern).host.toLowerCase();

/** Whether a name in the zone matches the host of a pattern. Behind a star any name may begin. */
export function isHostInZone(host: string, zone: string): boolean {
  const star = host.lastIndexOf("*");
  const end = host.slice(star + 1);
  return `.${end}`.endsWith(`.${zone}`) || (star >= 0 && zone.endsWith(end));
}

export const PATTERN_CHARACTERS_MAX = 1024;
const PORT_MAX = 65_535;

interface Parts {
  readonly scheme: "http" | "https" | "*";
  readonly host: string;
  /** 0 if it has none. */
  readonly port: number;
  readonly path: string;
}

function partsOf(pattern: string): Parts {
  const [, scheme = "*", rest = ""] = /^(?:(https?|\*):\/\/)?(.*)$/i.exec(pattern) ?? [];
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const port = /:(\d*)$/.exec(authority);
  const host = port === null ? authority : authority.slice(0, port.index);
  // A host alone means its root page, unless it ends in a star, which then matches every page as well.
  const path = slash < 0 ? (host.endsWith("*") ? "*" : "/") : rest.slice(slash);
  // Rules see the host without its port.
  return { scheme: scheme.toLowerCase() as Parts["scheme"], host, port: Number(port?.[1] ?? 0), path };
}
