import { createIpList, type NamedList } from "./lists.ts";

/**
 * Prefix of the lists of addresses that rules of every account may name as `$cf.NAME`; the operator decides which
 * addresses they have.
 */
export const MANAGED_LIST_PREFIX = "cf.";

/** Lists of the vendor's service. Other lists exist only if the operator has a file for them. */
const KNOWN = ["anonymizer", "botnetcc", "malware", "open_proxies", "vpn"] as const;

/** The operator's files of this thread: addresses and blocks by the name of the list, without its prefix. */
let contents: ReadonlyMap<string, NamedList> = new Map();

/**
 * Replaces the operator's lists; rules that name one use it from now on. Throws RangeError that names the text that is
 * not an address or block.
 */
export function useManagedLists(lists: Iterable<readonly [name: string, addresses: readonly string[]]>): void {
  contents = new Map(Array.from(lists, ([name, addresses]) => [name, createIpList(addresses)]));
}

/** Known lists without a file are empty. */
const EMPTY = createIpList([]);

/** The list of that name, with its prefix; its content may change later. */
export function managedList(name: string): NamedList | undefined {
  const short = name.slice(MANAGED_LIST_PREFIX.length);
  if (!contents.has(short) && !(KNOWN as readonly string[]).includes(short)) return undefined;
  return { kind: "ip", has: (value) => (contents.get(short) ?? EMPTY).has(value) };
}

export const isManagedList = (name: string): boolean => name.startsWith(MANAGED_LIST_PREFIX);

/** Whether the operator has a file for it. */
export const isFilled = (name: string): boolean => contents.has(name.slice(MANAGED_LIST_PREFIX.length));

/** Names of all that may be named, with their prefix. */
export const managedListNames = (): readonly string[] =>
  [...new Set([...KNOWN, ...contents.keys()])].toSorted().map((name) => MANAGED_LIST_PREFIX + name);
