import type { DictionaryValue } from "./structured-dictionary.ts";

/** Response directives that a shared cache uses (RFC 9111 §5.2.2, RFC 5861, RFC 8246). Values are seconds, or null if absent. */
export interface CacheControl {
  readonly noStore: boolean;
  readonly noCache: boolean;
  readonly isPrivate: boolean;
  /** Fields listed in `no-cache="…"` and `private="…"`, in lower case, which a shared cache must not use. */
  readonly withheld: readonly string[];
  readonly isPublic: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly mustUnderstand: boolean;
  readonly maxAge: number | null;
  readonly sharedMaxAge: number | null;
  readonly staleWhileRevalidate: number | null;
  readonly staleIfError: number | null;
}

/** RFC 9111 §1.2.2: larger values count as this. */
const SECONDS_MAX = 2 ** 31;
const DIRECTIVES_MAX = 64;
const DIRECTIVE = /[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?[ \t]*(?:,|$)|[^,]*(?:,|$)/gy;

/** Parses the directives of all Cache-Control field lines; malformed ones are ignored. */
export function parseCacheControl(lines: readonly string[]): CacheControl {
  const directives: Directive[] = [];
  for (const line of lines) {
    for (const match of line.matchAll(DIRECTIVE)) {
      if (match.index >= line.length || directives.length === DIRECTIVES_MAX) break;
      if (match[1] !== undefined) directives.push([match[1].toLowerCase(), match[2]?.replace(/\\(.)/g, "$1") ?? match[3] ?? null]);
    }
  }
  return fromDirectives(directives);
}

/** Directives whose value is a number of seconds. */
const SECONDS = new Set(["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]);
/** Directives without a value; `no-cache` and `private` may have a list of fields. */
const FLAGS = new Set(["no-store", "public", "must-revalidate", "proxy-revalidate", "must-understand"]);
const FLAGS_OR_LISTS = new Set(["no-cache", "private"]);

/** Whether a known directive's value has the right type (RFC 9213 §2.1, RFC 8941 §3.2); a decimal is not a number of seconds. */
function isTyped(name: string, value: DictionaryValue): boolean {
  if (SECONDS.has(name)) return Number.isInteger(value) && (value as number) >= 0;
  if (FLAGS.has(name)) return typeof value === "boolean";
  return !FLAGS_OR_LISTS.has(name) || typeof value !== "number";
}

/**
 * The same for a targeted field (RFC 9213 §2.1), whose values have types. Null if one has another type: the whole field
 * is then ignored.
 */
export function cacheControlOf(members: ReadonlyMap<string, DictionaryValue>): CacheControl | null {
  const directives: Directive[] = [];
  for (const [name, value] of members) if (!isTyped(name, value)) return null;
  for (const [name, value] of members) {
    // `no-store=?0` means that the directive is absent.
    if (value !== false) directives.push([name, value === true ? null : String(value)]);
  }
  return fromDirectives(directives);
}

type Directive = readonly [name: string, value: string | null];

function fromDirectives(directives: readonly Directive[]): CacheControl {
  const flag = (name: string): boolean => directives.some(([other]) => other === name);
  const valuesOf = (name: string): readonly (string | null)[] => directives.flatMap(([other, value]) => (other === name ? [value] : []));
  const unqualified = (name: string): boolean => valuesOf(name).some((value) => value === null || fieldNamesIn(value).length === 0);
  return {
    noStore: flag("no-store"),
    noCache: unqualified("no-cache"),
    isPrivate: unqualified("private"),
    withheld: [...valuesOf("no-cache"), ...valuesOf("private")].flatMap((value) => (value === null ? [] : fieldNamesIn(value))),
    isPublic: flag("public"),
    mustRevalidate: flag("must-revalidate"),
    proxyRevalidate: flag("proxy-revalidate"),
    mustUnderstand: flag("must-understand"),
    maxAge: lifetime(valuesOf("max-age")),
    sharedMaxAge: lifetime(valuesOf("s-maxage")),
    staleWhileRevalidate: grace(valuesOf("stale-while-revalidate")),
    staleIfError: grace(valuesOf("stale-if-error")),
  };
}

const fieldNamesIn = (value: string): string[] =>
  value
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** RFC 9111 §4.2.1: invalid or contradictory values mean stale immediately. */
function lifetime(values: readonly (string | null)[]): number | null {
  if (values.length === 0) return null;
  const [first] = values;
  return first !== undefined && values.every((value) => value === first) ? (seconds(first) ?? 0) : 0;
}

/** An invalid grace period counts as absent. */
function grace(values: readonly (string | null)[]): number | null {
  const found = values.map(seconds).filter((value) => value !== null);
  return found.length === 0 ? null : Math.min(...found);
}

const seconds = (text: string | null): number | null =>
  text !== null && /^\d{1,20}$/.test(text) ? Math.min(Number(text), SECONDS_MAX) : null;
