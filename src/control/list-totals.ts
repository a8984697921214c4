/**
 * How many rows a list has, by a text that says which list it is and at which state of its rows: whoever pages through a list
 * pays for its count once. The one unused for longest leaves first.
 */
export interface ListTotals {
  /** Null where nobody has counted. */
  get(list: string): number | null;
  set(list: string, total: number): void;
}

const TOTALS_MAX = 5_000;
/** A filter with many values is rare and long. */
const LIST_LENGTH_MAX = 1_000;

export function createTotals(): ListTotals {
  const counted = new Map<string, number>();
  return {
    get: (list) => {
      const total = counted.get(list);
      if (total === undefined) return null;
      counted.delete(list);
      counted.set(list, total);
      return total;
    },
    set: (list, total) => {
      if (list.length > LIST_LENGTH_MAX) return;
      counted.delete(list);
      counted.set(list, total);
      if (counted.size > TOTALS_MAX) counted.delete(counted.keys().next().value as string);
    },
  };
}
