/** The streams of a connection that were closed last, for frames that come late (RFC 9113 §5.1, "closed"). */
export class ClosedStreams {
  private readonly ids = new Int32Array(REMEMBERED);
  private readonly wasReset = new Uint8Array(REMEMBERED);
  private next = 0;

  add(id: number, wasReset: boolean): void {
    this.ids[this.next] = id;
    this.wasReset[this.next] = wasReset ? 1 : 0;
    this.next = (this.next + 1) % REMEMBERED;
  }

  has(id: number): boolean {
    return this.ids.includes(id);
  }

  /** We have reset it: the other side may not know yet. */
  hasReset(id: number): boolean {
    const place = this.ids.indexOf(id);
    return place >= 0 && this.wasReset[place] === 1;
  }
}

/** As many as a connection has open at once, or somewhat more. */
const REMEMBERED = 128;
