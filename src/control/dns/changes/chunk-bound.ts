import { recordCost, type SizedRecord } from "#model/dns/record-cost.ts";
import { CHANGES_PER_ROW } from "#store/dns/dns-versions.ts";

/** The most changes of a chunk, for which writes of others wait. Two chunks are one part of the version. */
export const CHUNK_CHANGES = CHANGES_PER_ROW / 2;
/** The most names, or bytes instead (record-cost.ts), that a chunk changes: planes apply them before the next write. */
const CHUNK_COST = 500;

/** The one bound of everything that splits a large change. */
export interface ChunkBound {
  /** Counts a change, by the record before and after it, and returns whether the chunk is full; the next change then begins another. */
  add(...states: readonly (SizedRecord | null)[]): boolean;
  /** The same of a change whose cost is known. */
  addCost(cost: number): boolean;
}

export function createChunkBound(changesMax = CHUNK_CHANGES, costMax = CHUNK_COST): ChunkBound {
  let [changes, cost, previous] = [0, 0, ""];
  const addCost = (added: number): boolean => {
    changes += 1;
    cost += added;
    if (changes < changesMax && cost < costMax) return false;
    [changes, cost] = [0, 0];
    return true;
  };
  return {
    add: (...states) => {
      let added = 0;
      for (const record of states) {
        if (record === null) continue;
        added += recordCost(record, previous);
        previous = record.name;
      }
      return addCost(added);
    },
    addCost,
  };
}

/** The items in chunks, in order. */
export function* boundedChunks<T>(items: Iterable<T>, recordOf: (item: T) => SizedRecord | null): Generator<readonly T[]> {
  const bound = createChunkBound();
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (!bound.add(recordOf(item))) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
