const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;

/** Writes one message in Protocol Buffers' wire format, field by field. */
export class ProtobufWriter {
  readonly #pieces: Buffer[] = [];

  varint(field: number, value: bigint): this {
    this.#pieces.push(varintOf(BigInt((field << 3) | VARINT)), varintOf(BigInt.asUintN(64, value)));
    return this;
  }

  fixed64(field: number, value: bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    return this.#tagged(field, FIXED64, bytes);
  }

  double(field: number, value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return this.#tagged(field, FIXED64, bytes);
  }

  data(field: number, bytes: Buffer): this {
    this.#pieces.push(varintOf(BigInt((field << 3) | LENGTH)), varintOf(BigInt(bytes.length)), bytes);
    return this;
  }

  text(field: number, value: string): this {
    return this.data(field, Buffer.from(value));
  }

  message(field: number, value: ProtobufWriter): this {
    return this.data(field, value.bytes());
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  #tagged(field: number, type: number, bytes: Buffer): this {
    this.#pieces.push(varintOf(BigInt((field << 3) | type)), bytes);
    return this;
  }
}

/** Seven bits per byte, the lowest first. */
function varintOf(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}
