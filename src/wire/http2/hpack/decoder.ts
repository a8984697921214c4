import { latin1 } from "#wire/http/bytes.ts";
import { Field, type FieldSink } from "./field.ts";
import { decodeHuffman, HUFFMAN_GROWTH_MAX } from "./huffman.ts";
import { STATIC_TABLE, TABLE_BYTES_MAX } from "./static-table.ts";

/** Shared by all connections: a reader's notes on an entry of the static table hold for all of them. */
const STATIC_FIELDS: readonly Field[] = STATIC_TABLE.map(([name, value]) => new Field(name, value));
const STATIC_COUNT = STATIC_FIELDS.length;

/** Texts are decoded into this buffer before they become strings. */
let decoded = Buffer.allocUnsafeSlow(8192);

/** No integer of a valid block is larger: neither an index, nor a size, nor a length. */
const INTEGER_MAX = 0x0fff_ffff;
const INTEGER_BYTES_MAX = 5;
/** The smallest size since the last block, and the final one. */
const RESIZES_MAX = 2;

/** Reads the header blocks of one connection (RFC 7541), which share a table. */
export class HpackDecoder {
  /** The newest entry is last; `evicted` counts the entries before the first one. */
  private entries: Field[] = [];
  private first = 0;
  private tableBytes = 0;
  private bytesMax = TABLE_BYTES_MAX;
  private buffer: Buffer = decoded;
  private at = 0;
  private end = 0;

  /** Decodes `buffer[start, end)`, a whole block. Returns false if it is malformed: the table cannot be used afterwards. */
  decode(buffer: Buffer, start: number, end: number, sink: FieldSink): boolean {
    this.buffer = buffer;
    this.at = start;
    this.end = end;
    if (!this.resize()) return false;
    while (this.at < end) {
      const first = buffer[this.at]!;
      let field: Field | null;
      if (first >= 0x80) field = this.entry(this.integer(0x7f));
      else if (first >= 0x40) {
        field = this.literal(0x3f);
        if (field !== null) this.insert(field);
      } else if (first >= 0x20) return false;
      else field = this.literal(0x0f);
      if (field === null) return false;
      sink.onField(field);
    }
    return true;
  }

  /** The table's size may change at the beginning of a block only, and twice at most (RFC 7541 §4.2). */
  private resize(): boolean {
    for (let count = 0; this.at < this.end && (this.buffer[this.at]! & 0xe0) === 0x20; count++) {
      if (count === RESIZES_MAX) return false;
      const bytes = this.integer(0x1f);
      if (bytes < 0 || bytes > TABLE_BYTES_MAX) return false;
      this.bytesMax = bytes;
      this.evict(0);
    }
    return true;
  }

  private entry(index: number): Field | null {
    if (index <= 0) return null;
    if (index <= STATIC_COUNT) return STATIC_FIELDS[index - 1]!;
    const place = this.entries.length + STATIC_COUNT - index;
    return place < this.first ? null : this.entries[place]!;
  }

  private literal(prefix: number): Field | null {
    const index = this.integer(prefix);
    if (index < 0) return null;
    const name = index === 0 ? this.text() : (this.entry(index)?.name ?? null);
    if (name === null) return null;
    const value = this.text();
    return value === null ? null : new Field(name, value);
  }

  private insert(field: Field): void {
    this.evict(field.bytes);
    if (field.bytes > this.bytesMax) return;
    this.entries.push(field);
    this.tableBytes += field.bytes;
  }

  /** Makes room for an entry of so many bytes, or empties the table. */
  private evict(bytes: number): void {
    while (this.first < this.entries.length && this.tableBytes + bytes > this.bytesMax)
      this.tableBytes -= this.entries[this.first++]!.bytes;
    // Rarely, since each time moves the entries that are left.
    if (this.first > 64 || this.first === this.entries.length) {
      this.entries = this.entries.slice(this.first);
      this.first = 0;
    }
  }

  /** Reads an integer (RFC 7541 §5.1); -1 if it does not end or is too large. */
  private integer(prefix: number): number {
    const { buffer, end } = this;
    let value = buffer[this.at++]! & prefix;
    if (value < prefix) return value;
    for (let shift = 0; shift < INTEGER_BYTES_MAX * 7; shift += 7) {
      if (this.at >= end) return -1;
      const byte = buffer[this.at++]!;
      // Not by shifts, whose results may be negative.
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value > INTEGER_MAX ? -1 : value;
    }
    return -1;
  }

  /** Reads a string (RFC 7541 §5.2); null if it is malformed. */
  private text(): string | null {
    const { buffer, end } = this;
    if (this.at >= end) return null;
    const isCoded = buffer[this.at]! >= 0x80;
    const length = this.integer(0x7f);
    const start = this.at;
    if (length < 0 || length > end - start) return null;
    this.at = start + length;
    if (!isCoded) return latin1(buffer, start, start + length);
    const room = Math.ceil(length * HUFFMAN_GROWTH_MAX);
    if (room > decoded.length) decoded = Buffer.allocUnsafeSlow(room);
    const textEnd = decodeHuffman(buffer, start, start + length, decoded, 0);
    return textEnd < 0 ? null : latin1(decoded, 0, textEnd);
  }
}
