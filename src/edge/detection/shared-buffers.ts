import { SLOT_BYTES, type BufferSlot, bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";

// Shares the buffers that sockets read into with the detector instead of copying them. Both threads share the memory; each
// place in it belongs to the sockets, or to the detector until it has scanned it, or is free.

const PLACES = 32;
/** Bytes shared at most. If more wait, the detector is behind and the ring sheds load; further pieces are copied. */
const LENT_BYTES_MAX = 4 * 1024 * 1024;
// After the places: a word with the bytes returned, modulo 2^32, and a word with one bit for each free place.
const RETURNED_AT = PLACES * SLOT_BYTES;
const FREE_AT = RETURNED_AT + Int32Array.BYTES_PER_ELEMENT;

/** The system allocates its pages only when they are used. */
export function createBufferPool(): SharedArrayBuffer {
  return new SharedArrayBuffer(FREE_AT + Int32Array.BYTES_PER_ELEMENT);
}

const freeIn = (memory: SharedArrayBuffer): Int32Array => new Int32Array(memory, FREE_AT, 1);
const returnedIn = (memory: SharedArrayBuffer): Int32Array => new Int32Array(memory, RETURNED_AT, 1);

/** The edge's side. */
export class BufferPool {
  readonly memory = createBufferPool();
  private readonly free = freeIn(this.memory);
  private readonly returned = returnedIn(this.memory);
  private readonly places: BufferSlot[] = [];
  /** Bytes shared, modulo 2^32. */
  private lent = 0;
  /** The place that sockets read into; -1 before the first one. */
  private inUse = -1;

  /** `placeIn` makes a place for reads in shared memory. */
  constructor(placeIn: (memory: SharedArrayBuffer, offset: number) => BufferSlot) {
    for (let place = 0; place < PLACES; place++) this.places.push(placeIn(this.memory, place * SLOT_BYTES));
    this.takeBack();
  }

  /** Takes all places back, since the detector is gone. */
  takeBack(): void {
    Atomics.store(this.returned, 0, this.lent);
    Atomics.store(this.free, 0, this.inUse < 0 ? -1 : ~(1 << this.inUse));
  }

  /** True if the bytes are the last read, were not shared before, and another place is free for the next read. */
  canLend(bytes: Uint8Array, length: number): boolean {
    const { current, isReplaced } = bufferSlots;
    if (bytes !== current.buffer || isReplaced || Atomics.load(this.free, 0) === 0) return false;
    if (current === this.places[this.inUse]) return ((this.lent - Atomics.load(this.returned, 0)) | 0) + length <= LENT_BYTES_MAX;
    // The read went to other memory; the next one can be shared.
    if (this.inUse >= 0) Atomics.or(this.free, 0, 1 << this.inUse);
    this.moveOn();
    return false;
  }

  /** Shares the last read, after `canLend`. Returns the number of its place. */
  lend(length: number): number {
    const place = this.inUse;
    this.lent = (this.lent + length) | 0;
    this.moveOn();
    return place;
  }

  /** Chooses the first free place, so that the same memory stays in the CPU cache. */
  private moveOn(): void {
    const free = Atomics.load(this.free, 0);
    this.inUse = 31 - Math.clz32(free & -free);
    Atomics.and(this.free, 0, ~(1 << this.inUse));
    bufferSlots.replace(this.places[this.inUse] as BufferSlot);
  }
}

/** The detector's side. */
export class BufferUser {
  private readonly memory: SharedArrayBuffer;
  private readonly free: Int32Array;
  private readonly returned: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.returned = returnedIn(memory);
    this.memory = memory;
    this.free = freeIn(memory);
  }

  bytes(place: number, start: number, length: number): Buffer {
    return Buffer.from(this.memory, place * SLOT_BYTES + start, length);
  }

  giveBack(place: number, length: number): void {
    Atomics.add(this.returned, 0, length);
    Atomics.or(this.free, 0, 1 << place);
  }
}
