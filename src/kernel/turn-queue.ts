/** A queue in which owners take turns: one with a hundred items goes before another's one item at most once. */
export interface TurnQueue<T> {
  readonly size: number;
  push(owner: string, item: T): void;
  /** The item that `take` would return. */
  next(): T | undefined;
  take(): T | undefined;
}

export function createTurnQueue<T>(): TurnQueue<T> {
  /** In the order of turns; none is empty. */
  const waiting = new Map<string, T[]>();
  let size = 0;
  const first = (): readonly [string, T[]] | undefined => waiting.entries().next().value;
  return {
    get size() {
      return size;
    },
    push: (owner, item) => {
      const items = waiting.get(owner);
      if (items === undefined) waiting.set(owner, [item]);
      else items.push(item);
      size += 1;
    },
    next: () => first()?.[1][0],
    take: () => {
      const turn = first();
      if (turn === undefined) return undefined;
      const [owner, items] = turn;
      const item = items.shift();
      size -= 1;
      waiting.delete(owner);
      if (items.length > 0) waiting.set(owner, items);
      return item;
    },
  };
}
