/** Merges sorted lists item by item: copies nothing, and every step takes about the same time. */
export function* mergeSorted<T>(lists: readonly (readonly T[])[], isBefore: (a: T, b: T) => boolean): Generator<T, void> {
  const heap = lists.filter((list) => list.length > 0).map((list) => ({ list, at: 0 }));
  const head = (i: number): T => {
    const cursor = heap[i] as (typeof heap)[number];
    return cursor.list[cursor.at] as T;
  };
  /** Restores the heap order below `i`: no list begins before its parent. */
  const sink = (from: number): void => {
    for (let i = from; ;) {
      const children = [2 * i + 1, 2 * i + 2].filter((child) => child < heap.length);
      const least = children.reduce((best, child) => (isBefore(head(child), head(best)) ? child : best), i);
      if (least === i) return;
      [heap[i], heap[least]] = [heap[least] as (typeof heap)[number], heap[i] as (typeof heap)[number]];
      i = least;
    }
  };
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(i);
  while (heap.length > 0) {
    yield head(0);
    const first = heap[0] as (typeof heap)[number];
    first.at += 1;
    if (first.at === first.list.length) {
      const last = heap.pop() as (typeof heap)[number];
      if (heap.length === 0) return;
      if (last !== first) heap[0] = last;
    }
    sink(0);
  }
}
