import { integerOf } from "../operators/operators.ts";
import type { Entry } from "../transaction/collections.ts";

/** Variables that rules set for a transaction, by collection and name. */
export interface Store {
  get(collection: string, name: string): string | undefined;
  set(collection: string, name: string, value: string): void;
  add(collection: string, name: string, amount: number): void;
  remove(collection: string, name: string): void;
  /** The same array until the next change of the collection. */
  entries(collection: string): readonly Entry[];
  /** A store with the same variables. */
  copy(): Store;
}

// Values that rules store are bounded, for any request.
const NAMES_MAX = 10_000;
const VALUE_BYTES_MAX = 1 << 20;

const NONE: readonly Entry[] = [];

export const createStore = (): Store => storeOf(new Map());

function storeOf(collections: Map<string, Map<string, string>>): Store {
  const of = (collection: string): Map<string, string> => {
    let names = collections.get(collection);
    if (names === undefined) collections.set(collection, (names = new Map()));
    return names;
  };
  const lists = new Map<string, readonly Entry[]>();
  const set = (collection: string, name: string, value: string): void => {
    const names = of(collection);
    lists.delete(collection);
    if (names.size < NAMES_MAX || names.has(name))
      names.set(name, value.length > VALUE_BYTES_MAX ? value.slice(0, VALUE_BYTES_MAX) : value);
  };
  return {
    get: (collection, name) => collections.get(collection)?.get(name),
    set,
    add: (collection, name, amount) => set(collection, name, String(integerOf(of(collection).get(name) ?? "0") + amount)),
    remove: (collection, name) => {
      if (collections.get(collection)?.delete(name) === true) lists.delete(collection);
    },
    copy: () => storeOf(new Map(Array.from(collections, ([collection, names]) => [collection, new Map(names)]))),
    entries: (collection) => {
      const names = collections.get(collection);
      if (names === undefined) return NONE;
      let list = lists.get(collection);
      if (list === undefined) lists.set(collection, (list = Array.from(names, ([name, value]) => ({ name, lower: name, value }))));
      return list;
    },
  };
}
