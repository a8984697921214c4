/** The end of a page: the keys of its last row, and the number of rows up to it. */
export interface PageEnd<Row> {
  readonly position: number;
  readonly row: Row;
}

/**
 * Databases count rows to find a page by number. The end of each returned page is remembered, so that the next one starts
 * there: page 20,000 costs the same as page 2. Places are stored under a text that identifies the list and the state of
 * its rows, so they are not used after a change.
 */
export interface PageEnds<Row> {
  /** The last known place before row `offset`; null: read from the start. */
  before(list: string, offset: number): PageEnd<Row> | null;
  add(list: string, place: PageEnd<Row>): void;
}

/** Minimum distance of two places, because skipping fewer rows is fast. */
const APART_MIN = 500;
const PLACES_MAX = 50_000;
/** Longer keys are not stored: filters with many values are rare. */
const LIST_LENGTH_MAX = 1_000;

export function createPageEnds<Row>(): PageEnds<Row> {
  /** By list, in order; the least recently used list is evicted first. */
  const lists = new Map<string, PageEnd<Row>[]>();
  let count = 0;
  /** Number of places at or before `offset`. */
  const reached = (places: readonly PageEnd<Row>[], offset: number): number => {
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((places[middle] as PageEnd<Row>).position <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    before: (list, offset) => {
      const places = lists.get(list);
      if (places === undefined) return null;
      lists.delete(list);
      lists.set(list, places);
      return places[reached(places, offset) - 1] ?? null;
    },
    add: (list, place) => {
      if (list.length > LIST_LENGTH_MAX) return;
      const places = lists.get(list) ?? [];
      const at = reached(places, place.position);
      if (place.position - (places[at - 1]?.position ?? 0) < APART_MIN) return;
      places.splice(at, 0, place);
      lists.set(list, places);
      count++;
      for (const [oldest, { length }] of lists) {
        if (count <= PLACES_MAX) break;
        lists.delete(oldest);
        count -= length;
      }
    },
  };
}
