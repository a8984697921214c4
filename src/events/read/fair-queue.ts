/** What waits, taken from one owner after the other, and from each in the order in which it came: who asks for much waits for it alone. */
export interface FairQueue<T> {
  /** False where as many of the owner's, or of all, wait already. */
  add(owner: string, one: T): boolean;
  /** Whose turn it is; undefined where nothing waits. */
  next(): T | undefined;
  clear(): void;
}

export function createFairQueue<T>(limits: { readonly ofOne: number; readonly ofAll: number }): FairQueue<T> {
  /** Owners in the order of their turns; none is without something that waits. */
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
