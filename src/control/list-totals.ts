/**
 * Row counts of lists, under a text that identifies the list and the state of its rows, so that paging counts only once.
 * Evicts the least recently used.
 */
export interface ListTotals {
  /** Null if unknown. */
  get(list: string): number | null;
  set(list: string, total: number): void;
}

const TOTALS_MAX = 5_000;
/** Longer keys are not stored: filters with many values are rare. */
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
