import { hashOf } from "./large-map.ts";

/** Size at which a set is split into parts, all items at once. */
const SPLIT_SIZE = 2_048;
const PARTS = 256;

/**
 * A set whose copies share their parts until one of them changes, so that a copy, and each change after it, costs a small
 * part of its size. Items are compared by identity; `keyOf` returns a text that never changes.
 */
export class SharedSet<T> {
  /** One part, or PARTS of them. */
  #parts: Set<T>[];
  /** Parts that no copy shares. */
  #own: boolean[];
  #size: number;
  #copied = 0;
  readonly #keyOf: (item: T) => string;

  constructor(keyOf: (item: T) => string, items: Iterable<T> = []) {
    this.#keyOf = keyOf;
    this.#parts = [new Set(items)];
    this.#own = [true];
    this.#size = this.#parts[0]!.size;
  }

  get size(): number {
    return this.#size;
  }

  /** How many items its changes have copied so far. */
  get copied(): number {
    return this.#copied;
  }

  add(item: T): this {
    const part = this.#ownPart(this.#indexOf(item));
    const before = part.size;
    this.#size += part.add(item).size - before;
    if (this.#parts.length === 1 && this.#size > SPLIT_SIZE) this.#split();
    return this;
  }

  delete(item: T): boolean {
    const index = this.#indexOf(item);
    if (!this.#parts[index]!.has(item)) return false;
    this.#size -= 1;
    return this.#ownPart(index).delete(item);
  }

  /** A set with the same items that changes separately. */
  copy(): SharedSet<T> {
    const copy = new SharedSet(this.#keyOf);
    copy.#parts = [...this.#parts];
    copy.#size = this.#size;
    for (const set of [this, copy]) set.#own = this.#parts.map(() => false);
    return copy;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const part of this.#parts) yield* part;
  }

  #indexOf(item: T): number {
    return this.#parts.length === 1 ? 0 : hashOf(this.#keyOf(item)) & (PARTS - 1);
  }

  #ownPart(index: number): Set<T> {
    const part = this.#parts[index]!;
    if (this.#own[index]) return part;
    this.#copied += part.size;
    this.#own[index] = true;
    return (this.#parts[index] = new Set(part));
  }

  #split(): void {
    const [whole] = this.#parts;
    this.#parts = Array.from({ length: PARTS }, () => new Set<T>());
    this.#own = this.#parts.map(() => true);
    for (const item of whole!) this.#parts[this.#indexOf(item)]!.add(item);
  }
}
