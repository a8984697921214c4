import { charge } from "#rules/budget.ts";
import { createAddressSetOf } from "./address-set.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";
import type { Value } from "./value-type.ts";

/** The members of a list, for `in $name`. */
export interface NamedList {
  readonly kind: ListKind;
  has(value: Value): boolean;
}

/** `ip` lists contain addresses and blocks, `asn` lists numbers, and the others strings. */
export type ListKind = "ip" | "hostname" | "asn" | "redirect";

/**
 * The lists that an expression may name. The result of `find` is used at each evaluation, so a list may change later;
 * when lists are added or removed, expressions must be compiled again.
 */
export interface NamedLists {
  find(name: string): NamedList | undefined;
}

/** Throws RangeError that names the text that is not an address or block. */
export function createIpList(texts: Iterable<string>): NamedList {
  const set = createAddressSetOf(texts);
  return { kind: "ip", has: (value) => typeof value === "string" && set.has(value) };
}

/** No host name is longer (RFC 1035 §2.3.4), and the look-up of all parent domains takes quadratic time in the length. */
const HOST_BYTES_MAX = 255;
/** Steps per byte that may be a dot before a parent domain. */
const HOST_BYTE_STEPS = 100;

/** A list that is made item by item. */
export interface ListBuilder<Item, List extends NamedList = NamedList> {
  add(item: Item): void;
  /** Contains added items, including those added later. */
  readonly list: List;
}

export function asnListBuilder(): ListBuilder<number> {
  const set = new Set<number>();
  return { add: (number) => void set.add(number), list: { kind: "asn", has: (value) => typeof value === "number" && set.has(value) } };
}

/** Host names; `*.example.com` matches every name below, but not `example.com`. */
export function hostnameListBuilder(): ListBuilder<string> {
  const exact = new Set<string>();
  const below = new Set<string>();
  const add = (name: string): void => {
    const lower = lowerBytes(name);
    if (lower.startsWith("*.")) below.add(lower.slice(2));
    else exact.add(lower);
  };
  const isBelow = (host: string): boolean => {
    charge(host.length * HOST_BYTE_STEPS);
    for (let dot = host.indexOf("."); dot !== -1; dot = host.indexOf(".", dot + 1)) if (below.has(host.slice(dot + 1))) return true;
    return false;
  };
  const has = (host: string): boolean => exact.has(host) || (below.size > 0 && isBelow(host));
  const list: NamedList = {
    kind: "hostname",
    has: (value) => typeof value === "string" && value.length <= HOST_BYTES_MAX && has(lowerBytes(value)),
  };
  return { add, list };
}

export const createAsnList = (numbers: Iterable<number>): NamedList => filled(asnListBuilder(), numbers);
export const createHostnameList = (names: Iterable<string>): NamedList => filled(hostnameListBuilder(), names);

export function filled<Item, List extends NamedList>({ add, list }: ListBuilder<Item, List>, items: Iterable<Item>): List {
  for (const item of items) add(item);
  return list;
}
