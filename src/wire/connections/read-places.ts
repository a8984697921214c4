import { READ_BUFFER } from "./shared-reads.ts";

/** The longest read of a socket of our own loop. */
export const PLACE_BYTES = 512 * 1024;

/** Memory for a read of `PLACE_BYTES` at most. */
export interface ReadPlace {
  readonly buffer: Buffer;
  /** Its address. */
  readonly at: number;
}

const NOWHERE: ReadPlace = { buffer: Buffer.alloc(0), at: 0 };

/**
 * Where the sockets of our own loop read to, one for a thread: the same memory each time, until somebody keeps what was read
 * last and gives other memory for what comes next (ADR 0044).
 */
class ReadPlaces {
  current: ReadPlace = NOWHERE;
  /** Where `READ_BUFFER` is: what TLS is read to. */
  private readBufferAt = 0;
  private next: ReadPlace | null = null;

  /** The place that is read to at first, and where `READ_BUFFER` is. */
  begin(first: ReadPlace, readBufferAt: number): void {
    if (this.current === NOWHERE) this.current = first;
    this.readBufferAt = readBufferAt;
  }

  /** Somebody keeps what was read last already. */
  get isReplaced(): boolean {
    return this.next !== null;
  }

  /** Nothing is read over what was read last: the next read goes there. */
  replace(place: ReadPlace): void {
    this.next = place;
  }

  forRead(): ReadPlace {
    const { next } = this;
    if (next !== null) {
      this.current = next;
      this.next = null;
    }
    return this.current;
  }

  /** Of what was read last, by a socket of our own loop or into `READ_BUFFER`; 0 of everything else. */
  addressOf(buffer: Uint8Array): number {
    const { current } = this;
    return buffer === current.buffer ? current.at : buffer === READ_BUFFER ? this.readBufferAt : 0;
  }
}

export const readPlaces = new ReadPlaces();
