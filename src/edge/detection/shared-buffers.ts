import { PLACE_BYTES, type ReadPlace, readPlaces } from "#wire/connections/buffers/buffer-slots.ts";

// What sockets of the edge have read is lent to the detector as it is, and not copied, in memory of both threads: as many places
// for reads, of which each is the sockets', or the detector's until it has looked, or free.

const PLACES = 32;
/** Of what is lent. More says that the detector is behind, and it is the ring that sheds load: what comes then is copied. */
const LENT_BYTES_MAX = 4 * 1024 * 1024;
// Two words behind the places: bytes that came back, in 32 bits, and one bit for each place that is free.
const RETURNED_AT = PLACES * PLACE_BYTES;
const FREE_AT = RETURNED_AT + Int32Array.BYTES_PER_ELEMENT;

/** Its pages are the system's until they are used. */
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
  private readonly places: ReadPlace[] = [];
  /** Bytes, in 32 bits. */
  private lent = 0;
  /** Where sockets read to, if it is one of ours; -1 before. */
  private inUse = -1;

  /** `placeIn` makes memory of several threads such that this one may read to. */
  constructor(placeIn: (memory: SharedArrayBuffer, offset: number) => ReadPlace) {
    for (let place = 0; place < PLACES; place++) this.places.push(placeIn(this.memory, place * PLACE_BYTES));
    this.takeBack();
  }

  /** Nobody looks at anything that was lent any more. */
  takeBack(): void {
    Atomics.store(this.returned, 0, this.lent);
    Atomics.store(this.free, 0, this.inUse < 0 ? -1 : ~(1 << this.inUse));
  }

  /** Whether the bytes are of what was read last, which nobody has been lent, and there is a free place for the next read. */
  canLend(bytes: Uint8Array, length: number): boolean {
    const { current, isReplaced } = readPlaces;
    if (bytes !== current.buffer || isReplaced || Atomics.load(this.free, 0) === 0) return false;
    if (current === this.places[this.inUse]) return ((this.lent - Atomics.load(this.returned, 0)) | 0) + length <= LENT_BYTES_MAX;
    // It was read elsewhere. What comes next can be lent.
    if (this.inUse >= 0) Atomics.or(this.free, 0, 1 << this.inUse);
    this.moveOn();
    return false;
  }

  /** Lends what was read last, after `canLend`; gives the number of its place. */
  lend(length: number): number {
    const place = this.inUse;
    this.lent = (this.lent + length) | 0;
    this.moveOn();
    return place;
  }

  /** Reads go to the first free place: memory that is in the cache stays in use. */
  private moveOn(): void {
    const free = Atomics.load(this.free, 0);
    this.inUse = 31 - Math.clz32(free & -free);
    Atomics.and(this.free, 0, ~(1 << this.inUse));
    readPlaces.replace(this.places[this.inUse] as ReadPlace);
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
    return Buffer.from(this.memory, place * PLACE_BYTES + start, length);
  }

  giveBack(place: number, length: number): void {
    Atomics.add(this.returned, 0, length);
    Atomics.or(this.free, 0, 1 << place);
  }
}
