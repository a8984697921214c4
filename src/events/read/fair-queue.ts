/** A queue that serves owners in turn, and each owner's items in order: an owner with many items delays only itself. */
export interface FairQueue<T> {
  /** False if the owner's limit, or the total limit, is reached. */
  add(owner: string, one: T): boolean;
  /** The next item in turn; undefined if the queue is empty. */
  next(): T | undefined;
  clear(): void;
}

export function createFairQueue<T>(limits: { readonly ofOne: number; readonly ofAll: number }): FairQueue<T> {
  /** Owners in the order of their turns; each has a waiting item. */
  const waiting = new Map<string, T[]>();
  let size = 0;
  return {
    add: (owner, one) => {
      const own = waiting.get(owner);
      if (size >= limits.ofAll || (own?.length ?? 0) >= limits.ofOne) return false;
      if (own === undefined) waiting.set(owner, [one]);
      else own.push(one);
      size += 1;
      return true;
    },
    next: () => {
      const turn = waiting.entries().next().value;
      if (turn === undefined) return undefined;
      const [owner, own] = turn;
      const one = own.shift();
      waiting.delete(owner);
      if (own.length > 0) waiting.set(owner, own);
      size -= 1;
      return one;
    },
    clear: () => {
      waiting.clear();
      size = 0;
    },
  };
}
