/** What can stand in a list, and in one only. */
export interface Linked<T> {
  before: T | null;
  after: T | null;
}

/** Things in the order in which they came: each comes and goes with every request, for which a Set has to be hashed and filled anew. */
export class LinkedOrder<T extends Linked<T>> {
  size = 0;
  first: T | null = null;
  private last: T | null = null;

  /** One that does not stand here. */
  add(one: T): void {
    one.before = this.last;
    if (this.last === null) this.first = one;
    else this.last.after = one;
    this.last = one;
    this.size++;
  }

  /** Nothing happens where it does not stand here. */
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
