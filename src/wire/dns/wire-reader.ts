import { WireError } from "./errors.ts";
import { type DnsName, readName } from "./name.ts";

/** Reads bytes sequentially up to `end`; throws WireError at the end. */
export class WireReader {
  readonly bytes: Buffer;
  readonly end: number;
  readonly pointers: boolean;
  offset: number;

  constructor(bytes: Uint8Array, options: { offset?: number; end?: number; pointers: boolean }) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = options.offset ?? 0;
    this.end = options.end ?? bytes.length;
    this.pointers = options.pointers;
  }

  u8(): number {
    return this.bytes.readUInt8(this.#advance(1));
  }

  u16(): number {
    return this.bytes.readUInt16BE(this.#advance(2));
  }

  u32(): number {
    return this.bytes.readUInt32BE(this.#advance(4));
  }

  /** A view of the next bytes, not a copy. */
  take(length: number): Buffer {
    const from = this.#advance(length);
    return this.bytes.subarray(from, from + length);
  }

  rest(): Buffer {
    return this.take(this.end - this.offset);
  }

  name(): DnsName {
    const { name, end } = readName(this.bytes, this.offset, this.pointers);
    this.#advance(end - this.offset);
    return name;
  }

  get done(): boolean {
    return this.offset === this.end;
  }

  #advance(length: number): number {
    const from = this.offset;
    if (from + length > this.end) throw new WireError("truncated");
    this.offset = from + length;
    return from;
  }
}
