import { charge } from "#rules/budget.ts";
import { eachPair } from "#rules/body/form.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";
import { decodePercent } from "#rules/text/url-functions.ts";
import type { Value, ValueMap } from "#rules/expression/values/value-type.ts";

/** Named values; several may have the same name. */
export interface NamedValues extends ValueMap {
  readonly names: readonly string[];
  /** In the order of `names`. */
  readonly all: readonly string[];
}

/** Steps of a pair and its entry in the list of its name. */
const PAIR_STEPS = 150;

export const joinUri = (path: string, query: string): string => (query === "" ? path : `${path}?${query}`);

/** `a=1&b=2`, not decoded. A pair without `=` has an empty value. The pairs of several texts follow each other. */
export function readPairs(...texts: readonly string[]): NamedValues {
  const names: string[] = [];
  const all: string[] = [];
  for (const text of texts)
    eachPair(text, (name, value) => {
      names.push(name);
      all.push(value);
    });
  charge(names.length * PAIR_STEPS);
  return namedValues(names, all);
}

/** `a=1; b=2`. Names are URL decoded; values are as they were sent. */
export function readCookies(text: string): NamedValues {
  const names: string[] = [];
  const all: string[] = [];
  for (let at = 0; at < text.length;) {
    const found = text.indexOf(";", at);
    const end = found === -1 ? text.length : found;
    const pair = text.slice(at, end).trim();
    const equals = pair.indexOf("=");
    if (equals > 0) {
      names.push(decodePercent(pair.slice(0, equals)));
      all.push(pair.slice(equals + 1));
    }
    at = end + 1;
  }
  charge(names.length * PAIR_STEPS);
  return namedValues(names, all);
}

export function namedValues(names: readonly string[], all: readonly string[]): NamedValues {
  let byName: Map<string, string[]> | undefined;
  const map = (): Map<string, string[]> => {
    if (byName !== undefined) return byName;
    byName = new Map();
    for (const [i, name] of names.entries()) {
      const values = byName.get(name);
      if (values === undefined) byName.set(name, [all[i] ?? ""]);
      else values.push(all[i] ?? "");
    }
    return byName;
  };
  return { names, all, get: (name): Value | undefined => map().get(name), values: () => [...map().values()] };
}

/** The text after the last dot of the last segment; empty for a segment with only a leading dot. */
export function extensionOf(path: string, lower = true): string {
  const segment = path.slice(path.lastIndexOf("/") + 1);
  const dot = segment.lastIndexOf(".");
  if (dot <= 0) return "";
  const extension = segment.slice(dot + 1);
  return lower ? lowerBytes(extension) : extension;
}

const LANGUAGES_MAX = 100;

/** Language tags by descending weight, those of equal weight in the header's order (RFC 9110 §12.5.4); `*` is omitted. */
export function acceptedLanguages(header: string): readonly string[] {
  const tags: { readonly tag: string; readonly weight: number }[] = [];
  for (const item of header.split(",", LANGUAGES_MAX)) {
    const [tag = "", ...parameters] = item.split(";", 4).map((part) => part.trim());
    if (tag === "" || tag === "*") continue;
    const quality = parameters.find((part) => /^q=/i.test(part))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality);
    tags.push({ tag, weight: Number.isFinite(weight) ? weight : 0 });
  }
  return tags.sort((a, b) => b.weight - a.weight).map(({ tag }) => tag);
}
