import { READ_BUFFER } from "./read-buffer.ts";
import { SECURE_BUFFER } from "./secure-buffer.ts";

/** The longest read from a socket of the epoll loop. */
export const SLOT_BYTES = 512 * 1024;

/** Memory for a read of `SLOT_BYTES` at most. */
export interface BufferSlot {
  readonly buffer: Buffer;
  /** Address of the buffer in memory. */
  readonly at: number;
}

const NOWHERE: BufferSlot = { buffer: Buffer.alloc(0), at: 0 };

/**
 * The memory that sockets of the epoll loop read into, one instance per thread. Reads use the same place until a task
 * keeps the bytes of the last read; further reads then go to other memory (ADR 0044).
 */
class BufferSlots {
  current: BufferSlot = NOWHERE;
  /** The place of ordinary reads; `current` differs from it while reads go to a spare place. */
  private home: BufferSlot = NOWHERE;
  private spare: readonly BufferSlot[] = [];
  /** Number of spare places in use. */
  private taken = 0;
  /** Addresses of `READ_BUFFER` and `SECURE_BUFFER`. */
  private readBufferAt = 0;
  private secureBufferAt = 0;
  private next: BufferSlot | null = null;

  /** Sets the first place, the spare ones, and the addresses of the other buffers. Later calls keep the place that is in use. */
  begin(first: BufferSlot, spare: readonly BufferSlot[], readBufferAt: number, secureBufferAt: number): void {
    if (this.home === NOWHERE) this.current = this.home = first;
    this.spare = spare;
    this.readBufferAt = readBufferAt;
    this.secureBufferAt = secureBufferAt;
  }

  /** Sends the next read to a spare place, so that earlier reads stay valid until `stepBack`. Returns false if none is free. */
  stepAside(): boolean {
    const place = this.spare[this.taken];
    if (place === undefined) return false;
    this.taken++;
    this.current = place;
    return true;
  }

  /** Frees the spare places, when neither they nor the reads before them are needed. */
  stepBack(): void {
    if (this.taken === 0) return;
    this.taken = 0;
    this.current = this.home;
  }

  /** True if the bytes of the last read are kept already, or lie in a spare place. */
  get isReplaced(): boolean {
    return this.next !== null || this.taken > 0;
  }

  /** Sends the next read to `place`, so that the bytes of the last read stay valid. Does not protect a read in a spare place. */
  replace(place: BufferSlot): void {
    this.next = place;
  }

  forRead(): BufferSlot {
    const { next } = this;
    if (next !== null) {
      this.current = this.home = next;
      this.next = null;
    }
    return this.current;
  }

  /** Address of a buffer that the last read filled: of this loop, `READ_BUFFER` or `SECURE_BUFFER`. 0 for any other buffer. */
  addressOf(buffer: Uint8Array): number {
    const { current } = this;
    if (buffer === current.buffer) return current.at;
    return buffer === SECURE_BUFFER ? this.secureBufferAt : buffer === READ_BUFFER ? this.readBufferAt : 0;
  }
}

export const bufferSlots = new BufferSlots();
