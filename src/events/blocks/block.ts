import { PlatformError } from "#kernel/errors/errors.ts";
import { aligned, type BlockColumn, columnBytes, type BlockHeader, HEADER_LENGTH_BYTES, WIDTHS } from "./block-form.ts";

/** The texts of a column, decoded on demand. */
export interface BlockTexts {
  at(row: number): string;
}

/** The combination of a facet in each row: `ids[codes[row]]`, or `ids[0]` without codes. */
export interface BlockFacet {
  readonly ids: Uint32Array;
  readonly codes: Uint8Array | Uint16Array | Uint32Array | null;
}

/** Rows of a block, read column by column on demand. Throws `database_damaged` if the bytes are not a block. */
export class Block {
  readonly firstRow: number;
  readonly rows: number;
  private readonly bytes: Buffer<ArrayBuffer>;
  private readonly places = new Map<string, { readonly column: BlockColumn; readonly at: number }>();
  private readonly read = new Map<string, Float64Array | BlockTexts>();

  constructor(firstRow: number, bytes: Uint8Array) {
    // Views of two and four bytes need memory aligned to these sizes.
    const own = bytes.byteOffset % 8 === 0 ? (bytes as Uint8Array<ArrayBuffer>) : Uint8Array.from(bytes);
    this.bytes = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
    this.firstRow = firstRow;
    const { header, end } = readHeader(this.bytes);
    this.rows = header.rows;
    let at = aligned(end);
    for (const column of header.columns) {
      this.places.set(column.name, { column, at });
      at = aligned(at + columnBytes(column, header.rows));
    }
    if (at !== bytes.length) throw new PlatformError("database_damaged");
  }

  has(name: string): boolean {
    return this.places.has(name);
  }

  facet(name: string): BlockFacet {
    const { column, at } = this.place(name, "facet");
    const ids = new Uint32Array(this.bytes.buffer, this.bytes.byteOffset + at, column.combinations);
    return { ids, codes: column.width === 0 ? null : this.codes(column.width, at + ids.byteLength) };
  }

  /** NaN is null. */
  numbers(name: string): Float64Array {
    const known = this.read.get(name) as Float64Array | undefined;
    if (known !== undefined) return known;
    const { column, at } = this.place(name, "number");
    const numbers = this.decodeNumbers(column, at);
    this.read.set(name, numbers);
    return numbers;
  }

  texts(name: string): BlockTexts {
    const known = this.read.get(name) as BlockTexts | undefined;
    if (known !== undefined) return known;
    const { column, at } = this.place(name, "text");
    const texts = this.decodeTexts(column, at);
    this.read.set(name, texts);
    return texts;
  }

  private decodeNumbers({ width, base, scale, value }: BlockColumn & { readonly kind: "number" }, at: number): Float64Array {
    if (width === 8) return new Float64Array(this.bytes.buffer, this.bytes.byteOffset + at, this.rows);
    const numbers = new Float64Array(this.rows);
    if (width === 0) return numbers.fill(value ?? Number.NaN);
    const codes = this.codes(width, at);
    for (let row = 0; row < this.rows; row++) numbers[row] = codes[row] === 0 ? Number.NaN : (codes[row]! - 1 + base) / scale;
    return numbers;
  }

  private decodeTexts({ width, bytes }: BlockColumn & { readonly kind: "text" }, at: number): BlockTexts {
    const start = at + width * this.rows;
    const text = this.bytes.toString("utf8", start, start + bytes);
    if (width === 0) return { at: () => text };
    const lengths = this.codes(width, at);
    const asBefore = 2 ** (8 * width) - 1;
    // Start and end of each row's text.
    const bounds = new Uint32Array(2 * this.rows);
    for (let row = 0, from = 0, to = 0; row < this.rows; row++) {
      if (lengths[row] !== asBefore) [from, to] = [to, to + lengths[row]!];
      bounds[2 * row] = from;
      bounds[2 * row + 1] = to;
    }
    return { at: (row) => text.slice(bounds[2 * row], bounds[2 * row + 1]) };
  }

  private codes(width: number, at: number): Uint8Array | Uint16Array | Uint32Array {
    return new WIDTHS[width as 1 | 2 | 4](this.bytes.buffer, this.bytes.byteOffset + at, this.rows);
  }

  private place<K extends BlockColumn["kind"]>(
    name: string,
    kind: K,
  ): { readonly column: BlockColumn & { readonly kind: K }; readonly at: number } {
    const place = this.places.get(name);
    if (place?.column.kind !== kind) throw new PlatformError("database_damaged");
    return place as { readonly column: BlockColumn & { readonly kind: K }; readonly at: number };
  }
}

function readHeader(bytes: Buffer): { readonly header: BlockHeader; readonly end: number } {
  try {
    const end = HEADER_LENGTH_BYTES + bytes.readUInt32LE(0);
    return { header: JSON.parse(bytes.toString("utf8", HEADER_LENGTH_BYTES, end)) as BlockHeader, end };
  } catch (error) {
    throw new PlatformError("database_damaged", { cause: error });
  }
}
