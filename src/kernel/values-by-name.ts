/**
 * A multimap for names that mostly have one value, which is stored without a set: a hundred thousand sets would use more
 * memory than their values. Adding and removing take constant time.
 */
export interface ValuesByName<V extends string | object> {
  add(name: string, value: V): void;
  remove(name: string, value: V): void;
  /** The value that was added last, or undefined. */
  newest(name: string): V | undefined;
  /** Oldest first. */
  all(name: string): Iterable<V>;
  clear(): void;
}

export function createValuesByName<V extends string | object>(): ValuesByName<V> {
  const byName = new Map<string, V | Set<V>>();
  return {
    add: (name, value) => {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, value);
      else if (known instanceof Set) {
        known.delete(value);
        known.add(value);
      } else if (known !== value) byName.set(name, new Set([known, value]));
    },
    remove: (name, value) => {
      const known = byName.get(name);
      if (known instanceof Set) {
        known.delete(value);
        if (known.size === 1) byName.set(name, known.values().next().value as V);
      } else if (known === value) byName.delete(name);
    },
    newest: (name) => {
      const known = byName.get(name);
      if (!(known instanceof Set)) return known;
      let last: V | undefined;
      for (const value of known) last = value;
      return last;
    },
    all: (name) => {
      const known = byName.get(name);
      return known instanceof Set ? known : known === undefined ? [] : [known];
    },
    clear: () => byName.clear(),
  };
}
