import { READ_BUFFER } from "./read-buffer.ts";

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
  /** `current`, unless something was read aside. */
  private home: ReadPlace = NOWHERE;
  private spare: readonly ReadPlace[] = [];
  /** So many of the spare ones are in use. */
  private taken = 0;
  /** Where `READ_BUFFER` is: what TLS is read to. */
  private readBufferAt = 0;
  private next: ReadPlace | null = null;

  /** The place that is read to at first, others to read to aside, and where `READ_BUFFER` is. */
  begin(first: ReadPlace, spare: readonly ReadPlace[], readBufferAt: number): void {
    if (this.home === NOWHERE) this.current = this.home = first;
    this.spare = spare;
    this.readBufferAt = readBufferAt;
  }

  /** The next read goes to a spare place, and all that was read stays as it is until `stepBack`. False where none is left. */
  stepAside(): boolean {
    const place = this.spare[this.taken];
    if (place === undefined) return false;
    this.taken++;
    this.current = place;
    return true;
  }

  /** Nobody wants what was read aside any more, nor what was read before it. */
  stepBack(): void {
    if (this.taken === 0) return;
    this.taken = 0;
    this.current = this.home;
  }

  /** Somebody keeps what was read last already, or it was read aside. */
  get isReplaced(): boolean {
    return this.next !== null || this.taken > 0;
  }

  /** Nothing is read over what was read last, unless it was read aside: the next read goes there. */
  replace(place: ReadPlace): void {
    this.next = place;
  }

  forRead(): ReadPlace {
    const { next } = this;
    if (next !== null) {
      this.current = this.home = next;
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
