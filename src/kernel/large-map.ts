/**
 * Size at which a map is split, all entries at once: 1 to 3 ms, and 4 ms with keys of the maximum length of names. Two maps of one zone, which
 * grow together, split in the same tick.
 */
const SPLIT_SIZE = 1_024;
/** Enough parts that each has about 16,000 of four million entries: doubling one takes a millisecond or less. */
const PARTS = 256;

/**
 * A map that never doubles all at once. A Map copies every entry when it doubles, which blocks its thread for 0.2 s at
 * half a million; this one splits itself once, into parts that double one after the other. Values are not undefined.
 */
export class LargeMap<V> {
  /** One part, or PARTS of them. */
  #parts: Map<string, V>[] = [new Map()];
  #size = 0;
  readonly #splitSize: number;
  readonly #onSplit: (() => void) | undefined;

  /** `onSplit` is called when entries have moved to other parts, or all are deleted. */
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

  /** The part that contains a key; a part keeps its entries in the order in which they were added. */
  partOf(key: string): number {
    return this.#parts.length === 1 ? 0 : hashOf(key) & (PARTS - 1);
  }

  get parts(): readonly ReadonlyMap<string, V>[] {
    return this.#parts;
  }

  /** Part by part. Entries deleted ahead of the iterator are left out; entries added meanwhile may be left out. */
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

/** FNV-1a over the characters. Keys chosen to collide in one part only make it double like a plain Map. */
export function hashOf(key: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x0100_0193);
  return hash ^ (hash >>> 15);
}
