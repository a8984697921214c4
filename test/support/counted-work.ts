/**
 * Number of elements that collections read or return while `work` runs: each step of an iterator, each lookup, and the
 * length for array methods that go through all elements. It does not depend on the machine, so that a test can assert
 * it.
 */
export function countedWork(work: () => void): number {
  let count = 0;
  const undo: (() => void)[] = [];
  const count1 = (): number => 1;
  const lengthOf = (self: unknown): number => (self as { length?: number; size?: number }).length ?? (self as { size: number }).size;
  const patch = (prototype: object, names: readonly string[], cost: (self: unknown) => number): void => {
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
      const original = descriptor?.value as ((...args: unknown[]) => unknown) | undefined;
      if (original === undefined) continue;
      const counted = function (this: unknown, ...args: unknown[]): unknown {
        count += cost(this);
        return Reflect.apply(original, this, args);
      };
      Object.defineProperty(prototype, name, { ...descriptor, value: counted });
      undo.push(() => Object.defineProperty(prototype, name, descriptor as PropertyDescriptor));
    }
  };
  const iteratorOf = (collection: Iterable<unknown>): object => Object.getPrototypeOf(collection[Symbol.iterator]()) as object;
  patch(Map.prototype, ["get", "set", "has", "delete"], count1);
  patch(Set.prototype, ["add", "has", "delete"], count1);
  for (const collection of [[], new Map(), new Set()]) patch(iteratorOf(collection), ["next"], count1);
  for (const prototype of [Map.prototype, Set.prototype]) patch(prototype, ["forEach"], lengthOf);
  patch(Array.prototype, ARRAY_METHODS, lengthOf);
  let counted = 0;
  count = 0;
  try {
    work();
    counted = count;
  } finally {
    for (const restore of undo.toReversed()) restore();
  }
  return counted;
}

/** Methods that visit all items of the array, or may do so. */
const ARRAY_METHODS = [
  ...["concat", "every", "filter", "find", "findIndex", "findLast", "flat", "flatMap", "forEach", "includes", "indexOf", "join", "map"],
  ...["reduce", "slice", "some", "sort", "splice", "shift", "toReversed", "toSorted", "toSpliced", "unshift", "with"],
];
