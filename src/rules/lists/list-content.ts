import {
  asnListBuilder,
  createIpList,
  hostnameListBuilder,
  type ListBuilder,
  type ListKind,
  type NamedList,
} from "#rules/expression/values/lists.ts";
import { type ListedRedirect, redirectListBuilder } from "./redirect-list.ts";

/** A list of these items, in the form in which it is stored and sent to the planes. */
export function listContent(kind: ListKind, items: readonly unknown[]): NamedList {
  const work = makingList(kind, [items]);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Items per step: half a millisecond. Addresses are sorted, and so take some milliseconds. */
const ITEMS_AT_ONCE = 500;
const ADDRESSES_AT_ONCE = 4_096;

/** Compiled parts of address lists, by their items. */
export type MadeParts = WeakMap<readonly unknown[], readonly NamedList[]>;

/** The same in steps of some items. Entries of `made` are used again. */
export function* makingList(
  kind: ListKind,
  parts: Iterable<readonly unknown[]>,
  made: MadeParts = new WeakMap(),
): Generator<undefined, NamedList> {
  if (kind === "ip") return yield* makingIpList(parts as Iterable<readonly string[]>, made);
  const { add, list } = BUILDERS[kind]();
  let count = 0;
  for (const items of parts)
    for (const item of items) {
      add(item);
      if (++count % ITEMS_AT_ONCE === 0) yield;
    }
  return list;
}

function* makingIpList(parts: Iterable<readonly string[]>, made: MadeParts): Generator<undefined, NamedList> {
  const all: NamedList[] = [];
  for (const items of parts) {
    const pieces: NamedList[] = [...(made.get(items) ?? [])];
    for (let at = pieces.length * ADDRESSES_AT_ONCE; at < items.length; at += ADDRESSES_AT_ONCE) {
      pieces.push(createIpList(items.slice(at, at + ADDRESSES_AT_ONCE)));
      yield;
    }
    made.set(items, pieces);
    all.push(...pieces);
  }
  const [only] = all;
  return all.length === 1 && only ? only : { kind: "ip", has: (value) => all.some((piece) => piece.has(value)) };
}

const BUILDERS: Readonly<Record<Exclude<ListKind, "ip">, () => ListBuilder<unknown>>> = {
  asn: () => {
    const { add, list } = asnListBuilder();
    return { add: (item) => add(item as number), list };
  },
  hostname: () => {
    const { add, list } = hostnameListBuilder();
    return { add: (item) => namesOf(item as ListedHostname).forEach(add), list };
  },
  redirect: () => {
    const { add, list } = redirectListBuilder();
    return { add: (item) => add(item as ListedRedirect), list };
  },
};

interface ListedHostname {
  readonly url_hostname: string;
  readonly exclude_exact_hostname?: boolean;
}

/** `*.example.com` also matches `example.com`, unless the item excludes it. */
const namesOf = ({ url_hostname: name, exclude_exact_hostname: excludes }: ListedHostname): readonly string[] =>
  name.startsWith("*.") && excludes !== true ? [name, name.slice(2)] : [name];
