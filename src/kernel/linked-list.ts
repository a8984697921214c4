/** An item that can be in one list at a time. */
export interface Linked<T> {
  before: T | null;
  after: T | null;
}

/** A list in order of insertion. Items are added and removed with every request, for which a Set would have to hash and rebuild. */
export class LinkedList<T extends Linked<T>> {
  size = 0;
  first: T | null = null;
  private last: T | null = null;

  /** Adds an item that is not in the list. */
  add(one: T): void {
    one.before = this.last;
    if (this.last === null) this.first = one;
    else this.last.after = one;
    this.last = one;
    this.size++;
  }

  /** Does nothing if the item is not in the list. */
  remove(one: T): void {
    const { before, after } = one;
    if (before === null && this.first !== one) return;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.last = before;
    else after.before = before;
    one.before = one.after = null;
    this.size--;
  }
}
