/** Where a list was left: the keys of a row, and how many rows stand before the one that follows it. */
export interface ListPlace<Row> {
  readonly position: number;
  readonly row: Row;
}

/**
 * Pages have numbers, and databases count rows to find one. Whoever has shown a page remembers where it ended, so that the
 * next one begins there: a list costs the same at page 2 and at page 20,000. Places are kept under a text that says which
 * list it is and at which state of its rows, and are of no use once one of them has changed.
 */
export interface ListPlaces<Row> {
  /** The last place that is known before row number `offset`; null where reading begins at the first one. */
  before(list: string, offset: number): ListPlace<Row> | null;
  add(list: string, place: ListPlace<Row>): void;
}

/** Rows between two places: fewer are read over in no time. */
const APART_MIN = 500;
const PLACES_MAX = 50_000;
/** A filter with many values is rare and long. */
const LIST_LENGTH_MAX = 1_000;

export function createListPlaces<Row>(): ListPlaces<Row> {
  /** In their order, by list; the list that was asked for the longest ago leaves first. */
  const lists = new Map<string, ListPlace<Row>[]>();
  let count = 0;
  /** How many of them are at `offset` or before. */
  const reached = (places: readonly ListPlace<Row>[], offset: number): number => {
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((places[middle] as ListPlace<Row>).position <= offset) low = middle + 1;
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
