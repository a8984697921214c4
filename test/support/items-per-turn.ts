/** Counts what is done in one turn of the event loop, without looking at a clock. */
export interface ItemsPerTurn {
  add(items: number): void;
  /** The most of any turn so far. */
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
