/** Counts the work in one tick of the event loop, without reading a clock. */
export interface ItemsPerTurn {
  add(items: number): void;
  /** The largest count of any tick so far. */
  most(): number;
}

export function itemsPerTurn(): ItemsPerTurn {
  let most = 0;
  let current = 0;
  return {
    add: (items) => {
      if (current === 0) setImmediate(() => (current = 0));
      current += items;
      most = Math.max(most, current);
    },
    most: () => most,
  };
}
