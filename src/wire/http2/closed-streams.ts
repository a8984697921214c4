/** The streams of a connection that were closed last, for frames that come late (RFC 9113 §5.1, "closed"). */
export class ClosedStreams {
  /** Those that we have reset: the other side may not know yet. Those that ended push none of them out. */
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

/** As many as a connection has open at once, or somewhat more. */
const REMEMBERED = 128;
