/** Beyond so many entries a map is split, all of them in one go: 5 ms, and 20 ms where keys are as long as names get. */
const SPLIT_SIZE = 4_096;
/** Enough that each part has some 16,000 entries where there are four million: doubling one takes a millisecond or less. */
const PARTS = 256;

/**
 * A map that never doubles all at once. A Map copies every entry when it doubles, 0.2 s for half a million, in which its thread
 * does nothing else; this one splits itself once, into parts that double one after the other. Values are not undefined.
 */
export class LargeMap<V> {
  /** One, or as many as PARTS. */
  #parts: Map<string, V>[] = [new Map()];
  #size = 0;
  readonly #splitSize: number;
  readonly #onSplit: (() => void) | undefined;

  /** `onSplit` is called when entries have got other parts, or all have gone. */
  constructor(onSplit?: () => void, splitSize = SPLIT_SIZE) {
    this.#onSplit = onSplit;
    this.#splitSize = splitSize;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    return this.#partFor(key).get(key);
  }

  has(key: string): boolean {
    return this.#partFor(key).has(key);
  }

  set(key: string, value: V): void {
    const part = this.#partFor(key);
    const before = part.size;
    part.set(key, value);
    this.#size += part.size - before;
    if (this.#parts.length === 1 && this.#size > this.#splitSize) this.#split();
  }

  clear(): void {
    this.#parts = [new Map()];
    this.#size = 0;
    this.#onSplit?.();
  }

  delete(key: string): boolean {
    const wasThere = this.#partFor(key).delete(key);
    if (wasThere) this.#size -= 1;
    return wasThere;
  }

  /** The part that holds a key; a part keeps its entries in the order in which they were added. */
  partOf(key: string): number {
    return this.#parts.length === 1 ? 0 : hashOf(key) & (PARTS - 1);
  }

  get parts(): readonly ReadonlyMap<string, V>[] {
    return this.#parts;
  }

  /** Part by part. What is deleted ahead of the iterator is left out; what is added meanwhile may be. */
  *entries(): Generator<[string, V]> {
    const parts = this.#parts;
    for (const part of parts)
      for (const entry of part) {
        if (parts === this.#parts) {
          yield entry;
          continue;
        }
        const value = this.get(entry[0]);
        if (value !== undefined) yield [entry[0], value];
      }
  }

  *keys(): Generator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, V]> {
    return this.entries();
  }

  #partFor(key: string): Map<string, V> {
    const parts = this.#parts;
    return parts[parts.length === 1 ? 0 : hashOf(key) & (PARTS - 1)]!;
  }

  #split(): void {
    const [whole] = this.#parts as [Map<string, V>];
    const parts = Array.from({ length: PARTS }, () => new Map<string, V>());
    for (const [key, value] of whole) parts[hashOf(key) & (PARTS - 1)]!.set(key, value);
    this.#parts = parts;
    this.#onSplit?.();
  }
}

/** FNV-1a over the characters. Somebody who makes keys meet in one part has a Map that doubles as any other. */
function hashOf(key: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x0100_0193);
  return hash ^ (hash >>> 15);
}
