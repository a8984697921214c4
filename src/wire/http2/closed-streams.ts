/** The most recently closed streams of a connection, for frames that arrive late (RFC 9113 §5.1, "closed"). */
export class ClosedStreams {
  /**
   * Streams that we reset: the other side may not know yet. They have a separate list, so that ended streams push none of
   * them out.
   */
  private readonly reset = new RecentIds();
  private readonly ended = new RecentIds();

  add(id: number, wasReset: boolean): void {
    (wasReset ? this.reset : this.ended).add(id);
  }

  has(id: number): boolean {
    return this.reset.has(id) || this.ended.has(id);
  }

  hasReset(id: number): boolean {
    return this.reset.has(id);
  }
}

class RecentIds {
  private readonly ids = new Int32Array(REMEMBERED);
  private next = 0;

  add(id: number): void {
    this.ids[this.next] = id;
    this.next = (this.next + 1) % REMEMBERED;
  }

  has(id: number): boolean {
    return this.ids.includes(id);
  }
}

/** At least the number of streams that a connection may have open at once. */
const REMEMBERED = 128;
