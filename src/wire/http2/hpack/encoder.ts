import { type CodedField, createFieldCache, type FieldCache, writeInteger } from "./field-cache.ts";
import { STATIC_TABLE, TABLE_BYTES_MAX } from "./static-table.ts";

const STATIC_COUNT = STATIC_TABLE.length;
/** Statuses in the static table, with their index. */
const STATIC_STATUSES = new Map(STATIC_TABLE.flatMap(([name, value], i) => (name === ":status" ? [[Number(value), i + 1]] : [])));
const STATUS_NAME_INDEX = STATIC_STATUSES.get(200)!;
/** A field gets a place in the table only when it comes again: fields of a single response would evict the others. */
const SIGHTINGS_TO_INDEX = 2;

/** The block being written, valid until the next one begins. Grows as needed. */
let block = Buffer.allocUnsafeSlow(16_384);
const shared: FieldCache = createFieldCache();
/** Fields that are given as strings are written here first. */
let scratch = Buffer.allocUnsafeSlow(1024);

const LENGTH_NAME = "content-length";
/** The name, and room for a safe integer. */
const LENGTH_LINE = Buffer.from(LENGTH_NAME.padEnd(LENGTH_NAME.length + 16));

/** Writes the header blocks of one connection (RFC 7541), which share a table. One block is written at a time in a thread. */
export class HpackEncoder {
  /** Length of the block in `blockBytes()`, in bytes. */
  length = 0;
  /** By field: the number of entries inserted before it. */
  private readonly places = new Map<CodedField, number>();
  /** In order of insertion; those before `first` were evicted. */
  private entries: CodedField[] = [];
  private first = 0;
  private evicted = 0;
  private tableBytes = 0;
  private bytesMax = TABLE_BYTES_MAX;
  /** The smallest table size since the last block; -1 if the next block has no size to announce. */
  private leastBytesMax = -1;
  private isUnsent = false;

  /** Begins a block. Call `sent` once it is on its way. */
  begin(): void {
    this.length = 0;
    // A block that was never sent changed only our table, so both tables are emptied.
    if (this.isUnsent) {
      this.leastBytesMax = 0;
      this.evict(0, 0);
    }
    this.isUnsent = true;
    if (this.leastBytesMax < 0) return;
    // RFC 7541 §4.2: first the smallest size, because of the entries it evicts, then the current one.
    if (this.leastBytesMax < this.bytesMax) this.tellSize(this.leastBytesMax);
    this.tellSize(this.bytesMax);
    this.leastBytesMax = -1;
  }

  sent(): void {
    this.isUnsent = false;
  }

  /** The other side keeps no table larger than this. */
  limitTable(bytes: number): void {
    const limited = Math.min(bytes, TABLE_BYTES_MAX);
    if (limited === this.bytesMax && this.leastBytesMax < 0) return;
    this.leastBytesMax = this.leastBytesMax < 0 ? Math.min(limited, this.bytesMax) : Math.min(this.leastBytesMax, limited);
    this.bytesMax = limited;
    this.evict(this.leastBytesMax, 0);
  }

  status(status: number): void {
    this.reserve(8);
    const index = STATIC_STATUSES.get(status);
    if (index !== undefined) {
      block[this.length++] = 0x80 | index;
      return;
    }
    block[this.length++] = STATUS_NAME_INDEX;
    block[this.length++] = 3;
    for (const power of [100, 10, 1]) block[this.length++] = 0x30 + (Math.floor(status / power) % 10);
  }

  /** Writes a field of an HTTP/1.1 head, given by its offsets. */
  line(buffer: Uint8Array, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    this.field(shared.field(buffer, nameStart, nameEnd, valueStart, valueEnd));
  }

  /** Characters below 256 only. */
  text(name: string, value: string): void {
    const length = name.length + value.length;
    if (length > scratch.length) scratch = Buffer.allocUnsafeSlow(length * 2);
    scratch.write(name, 0, "latin1");
    scratch.write(value, name.length, "latin1");
    this.field(shared.field(scratch, 0, name.length, name.length, length));
  }

  contentLength(length: number): void {
    let at = LENGTH_LINE.length;
    let rest = length;
    do {
      LENGTH_LINE[--at] = 0x30 + (rest % 10);
      rest = Math.floor(rest / 10);
    } while (rest > 0 && at > LENGTH_NAME.length);
    this.field(shared.field(LENGTH_LINE, 0, LENGTH_NAME.length, at, LENGTH_LINE.length));
  }

  /**
   * Writes a field whose value differs in each block, and keeps it out of every table (RFC 7541 §6.2.3). `name` is in
   * lower case.
   */
  unique(name: string, value: string): void {
    this.reserve(name.length + value.length + 16);
    block[this.length++] = 0x10;
    this.raw(name);
    this.raw(value);
  }

  private raw(text: string): void {
    this.length = writeInteger(block, this.length, 0, 0x7f, text.length);
    for (let i = 0; i < text.length; i++) block[this.length++] = text.charCodeAt(i);
  }

  private field(field: CodedField): void {
    this.reserve(field.plain.length + 8);
    if (field.staticIndex !== 0) {
      block[this.length++] = 0x80 | field.staticIndex;
      return;
    }
    const { indexed } = field;
    if (indexed === null) return this.put(field.plain);
    const place = this.places.get(field);
    if (place !== undefined) {
      const index = STATIC_COUNT + this.evicted + this.entries.length - this.first - place;
      this.length = writeInteger(block, this.length, 0x80, 0x7f, index);
    } else if (field.sightings >= SIGHTINGS_TO_INDEX && field.bytes <= this.bytesMax) {
      this.put(indexed);
      this.insert(field);
    } else this.put(field.plain);
  }

  private insert(field: CodedField): void {
    this.evict(this.bytesMax, field.bytes);
    this.places.set(field, this.evicted + this.entries.length - this.first);
    this.entries.push(field);
    this.tableBytes += field.bytes;
  }

  private evict(bytesMax: number, more: number): void {
    while (this.first < this.entries.length && this.tableBytes + more > bytesMax) {
      const oldest = this.entries[this.first++]!;
      this.evicted++;
      this.tableBytes -= oldest.bytes;
      this.places.delete(oldest);
    }
    if (this.first > 64 || this.first === this.entries.length) {
      this.entries = this.entries.slice(this.first);
      this.first = 0;
    }
  }

  private put(bytes: Uint8Array): void {
    let at = this.length;
    for (let i = 0; i < bytes.length; i++) block[at++] = bytes[i]!;
    this.length = at;
  }

  private tellSize(bytes: number): void {
    this.length = writeInteger(block, this.length, 0x20, 0x1f, bytes);
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= block.length) return;
    const roomier = Buffer.allocUnsafeSlow((this.length + bytes) * 2);
    block.copy(roomier, 0, 0, this.length);
    block = roomier;
  }
}

/** The buffer that starts with the last block written in this thread. */
export const blockBytes = (): Buffer => block;
