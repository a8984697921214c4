/** The parts of a page that are left out for some visitors stand between these comments. */
const OPEN = Buffer.from("<!--sse-->");
const CLOSE = Buffer.from("<!--/sse-->");

const NOTHING = Buffer.alloc(0);

/**
 * Leaves out the marked parts of a page that arrives in pieces, in one pass. A part without an end extends to the end of
 * the page. Marks are the same bytes in every encoding that contains ASCII.
 */
export class ExcludedParts {
  private isInside = false;
  /** The end of the last piece, if it may be the beginning of a mark. */
  private carried = NOTHING;

  /** Passes on what remains of a piece. The piece must stay valid as long as what is passed on. */
  take(piece: Buffer, pass: (part: Buffer) => void): void {
    const bytes = this.carried.length === 0 ? piece : Buffer.concat([this.carried, piece]);
    let at = 0;
    for (;;) {
      const mark = this.isInside ? CLOSE : OPEN;
      const found = bytes.indexOf(mark, at);
      const end = found < 0 ? bytes.length - begun(bytes, at, mark) : found;
      if (!this.isInside && end > at) pass(bytes.subarray(at, end));
      if (found < 0) {
        this.carried = end === bytes.length ? NOTHING : Buffer.from(bytes.subarray(end));
        return;
      }
      at = found + mark.length;
      this.isInside = !this.isInside;
    }
  }

  /** The rest at the end of the page. */
  rest(): Buffer {
    return this.isInside ? NOTHING : this.carried;
  }
}

/** The length of the longest beginning of the mark with which the bytes from `start` end. */
function begun(bytes: Buffer, start: number, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length - start); length > 0; length--)
    if (bytes.compare(mark, 0, length, bytes.length - length) === 0) return length;
  return 0;
}
