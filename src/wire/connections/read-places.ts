import { READ_BUFFER } from "./shared-reads.ts";

/** Memory for a read, as long as `READ_BUFFER`. */
export interface ReadPlace {
  readonly buffer: Buffer;
  /** Its address. */
  readonly at: number;
}

/**
 * Where the sockets of our own loop read to, one for a thread: the same memory each time, until somebody keeps what was read
 * last and gives other memory for what comes next (ADR 0044).
 */
class ReadPlaces {
  current: ReadPlace = { buffer: READ_BUFFER, at: 0 };
  private first = this.current;
  private next: ReadPlace | null = null;

  /** Where `READ_BUFFER` is. */
  begin(at: number): void {
    const isFirst = this.current === this.first;
    this.first = { buffer: READ_BUFFER, at };
    if (isFirst) this.current = this.first;
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
    const { current, first } = this;
    return buffer === current.buffer ? current.at : buffer === READ_BUFFER ? first.at : 0;
  }
}

export const readPlaces = new ReadPlaces();
