import { charge } from "#rules/budget.ts";
import { NORMALIZATIONS, normalizedPattern, type UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import { filled, type ListBuilder, type NamedList } from "#rules/expression/values/lists.ts";

/** An item of a list of redirects, as the list's API stores it. */
export interface ListedRedirect {
  readonly source_url: string;
  readonly target_url: string;
  readonly status_code: number;
  readonly include_subdomains?: boolean;
  readonly subpath_matching?: boolean;
  readonly preserve_query_string?: boolean;
  readonly preserve_path_suffix?: boolean;
}

export interface RedirectList extends NamedList {
  readonly kind: "redirect";
  /** The target of this address; undefined if the list does not name it. */
  redirect(address: string): { readonly location: string; readonly status: number } | undefined;
}

const SEGMENTS_MAX = 64;
const HOST_BYTES_MAX = 261;

// Steps of a look-up of a source, and of each byte of a path.
const LOOK_STEPS = 300;
const BYTE_STEPS = 2;

/** The nearest source wins: the whole path before its parents, the host before its parents, one with a scheme before one without. */
export const createRedirectList = (items: Iterable<ListedRedirect>): RedirectList => filled(redirectListBuilder(), items);

export function redirectListBuilder(): ListBuilder<ListedRedirect, RedirectList> {
  const bySource = new Map<string, ListedRedirect>();
  // Lists belong to accounts, whose zones may show rules paths as received or their normal form, so both are known.
  const byNormal = new Map<string, ListedRedirect>();
  // Paths are long and are numbered, so that a lookup for each host costs only the host's length.
  const paths = new Map<string, number>();
  const add = (item: ListedRedirect): void => {
    const { scheme, host, path } = sourceOf(item.source_url);
    bySource.set(`${scheme}${host} ${numberOf(path)}`, item);
    for (const normalization of NORMALIZATIONS) {
      const normal = normalizedPattern(escaped(path), normalization);
      if (normal !== path && !leadsBack(item, { scheme, host, path: normal }, normalization))
        byNormal.set(`${scheme}${host} ${numberOf(normal)}`, item);
    }
  };
  const numberOf = (path: string): number => {
    const known = paths.get(path) ?? paths.size;
    paths.set(path, known);
    return known;
  };

  const find = (address: string): { readonly item: ListedRedirect; readonly suffix: string } | undefined => {
    const match = /^(https?:\/\/)?([^/?#]+)([^?#]*)/i.exec(address);
    if (match === null) return undefined;
    const scheme = (match[1] ?? "").toLowerCase();
    // No host name is longer (RFC 1035 §2.3.4), without its port.
    if ((match[2] ?? "").length > HOST_BYTES_MAX) return undefined;
    const path = match[3] === "" ? "/" : (match[3] ?? "/");
    const parents = pathsOf(path).flatMap((parent) => {
      charge(parent.length * BYTE_STEPS);
      const known = paths.get(parent);
      return known === undefined ? [] : [{ parent, known }];
    });
    for (
      let host = (match[2] ?? "").toLowerCase().replace(/:\d+$/, ""), isParent = false;
      host !== "";
      host = parentOf(host), isParent = true
    ) {
      for (const { parent, known } of parents)
        for (const prefix of [scheme, ""]) {
          charge(LOOK_STEPS);
          const key = `${prefix}${host} ${known}`;
          const item = bySource.get(key) ?? byNormal.get(key);
          if (item === undefined || (isParent && item.include_subdomains !== true)) continue;
          if (parent === path) return { item, suffix: "" };
          if (item.subpath_matching === true) return { item, suffix: path.slice(parent.length) };
        }
    }
    return undefined;
  };

  const list: RedirectList = {
    kind: "redirect",
    has: (value) => typeof value === "string" && find(value) !== undefined,
    redirect: (address) => {
      const found = find(address);
      if (found === undefined) return undefined;
      const { item, suffix } = found;
      const kept = item.preserve_path_suffix === false || suffix === "" ? "" : joined(item.target_url, suffix);
      const target = kept === "" ? item.target_url : kept;
      const query = address.indexOf("?");
      const keepsQuery = item.preserve_query_string === true && query >= 0 && !target.includes("?");
      return { location: keepsQuery ? target + address.slice(query) : target, status: item.status_code };
    },
  };
  return { add, list };
}

interface Source {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
}

function sourceOf(source: string): Source {
  const match = /^(https?:\/\/)?([^/?#]+)([^?#]*)/i.exec(source);
  const host = (match?.[2] ?? "").toLowerCase().replace(/:\d+$/, "");
  return { scheme: (match?.[1] ?? "").toLowerCase(), host, path: match?.[3] === "" ? "/" : (match?.[3] ?? "/") };
}

/** Targets are known in ASCII. */
const escaped = (path: string): string => path.toWellFormed().replace(/[^\0-\x7f]+/g, encodeURIComponent);

/** Whether a source covers its own target, whose visitors would be sent there again and again. */
function leadsBack(item: ListedRedirect, source: Source, normalization: UrlNormalization): boolean {
  const target = sourceOf(item.target_url);
  const path = normalizedPattern(escaped(target.path), normalization);
  return (
    (source.scheme === "" || source.scheme === target.scheme) &&
    (source.host === target.host || (item.include_subdomains === true && target.host.endsWith(`.${source.host}`))) &&
    (source.path === path || (item.subpath_matching === true && path.startsWith(source.path)))
  );
}

const parentOf = (host: string): string => {
  const dot = host.indexOf(".");
  return dot < 0 ? "" : host.slice(dot + 1);
};

/** The path, then each of its parents, the nearest first: `/a/b`, `/a/`, `/a`, `/`. */
function pathsOf(path: string): readonly string[] {
  const paths = [path];
  for (let end = path.length; end > 0 && paths.length < SEGMENTS_MAX;) {
    const slash = path.lastIndexOf("/", end - 1);
    if (slash < 0) break;
    if (slash + 1 < path.length) paths.push(path.slice(0, slash + 1));
    if (slash > 0) paths.push(path.slice(0, slash));
    end = slash;
  }
  return paths;
}

const joined = (target: string, suffix: string): string => `${target.replace(/\/$/, "")}/${suffix.replace(/^\//, "")}`;
