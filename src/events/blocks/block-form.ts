import { AS_BEFORE, type NumberedRows, type PackedTexts } from "#events/rows/packed-rows.ts";
import { EVENT_SCHEMA, storedColumns } from "#events/rows/schema.ts";

/*
 * A block is a batch of rows as bytes, a column after the other:
 *
 *     0 length of the header  4 the header, JSON  then each column, at multiples of eight
 *
 * Numbers are little endian. The header names the columns, so that a block says itself what it has.
 */

export interface BlockHeader {
  readonly rows: number;
  readonly columns: readonly BlockColumn[];
}

/** `width`: bytes of each row's number; 0 if all rows have the same number. */
export type BlockColumn = { readonly name: string; readonly width: number } & (
  | {
      readonly kind: "facet";
      /** Number of combinations, each as its four-byte number in the file; each row has a position among them. */
      readonly combinations: number;
    }
  | {
      readonly kind: "number";
      /** A row's number is 0 for null, or (value × scale − base + 1); of 8 bytes it is the value, NaN for null. */
      readonly base: number;
      readonly scale: number;
      /** The value if all rows have the same one. */
      readonly value: number | null;
    }
  | {
      readonly kind: "text";
      /**
       * UTF-8, after the lengths in UTF-16 units; the largest possible length means that the text is the same as in the
       * row before.
       */
      readonly bytes: number;
    }
);

/** Bytes of the column, without padding. */
export const columnBytes = (column: BlockColumn, rows: number): number =>
  column.width * rows + (column.kind === "text" ? column.bytes : column.kind === "facet" ? 4 * column.combinations : 0);

export const HEADER_LENGTH_BYTES = 4;
export const aligned = (bytes: number): number => (bytes + 7) & -8;

interface Section {
  readonly column: BlockColumn;
  readonly parts: readonly Uint8Array[];
}

/** Throws RangeError if a required cell is missing. */
export function encodeBlock(rows: NumberedRows): Uint8Array {
  const sections = sectionsOf(rows);
  const header: BlockHeader = { rows: rows.rows, columns: sections.map(({ column }) => column) };
  const head = Buffer.from(JSON.stringify(header));
  let at = aligned(HEADER_LENGTH_BYTES + head.length);
  const places = sections.map(({ parts }) => {
    const start = at;
    at = aligned(parts.reduce((end, part) => end + part.length, at));
    return start;
  });
  const block = Buffer.alloc(at);
  block.writeUInt32LE(head.length);
  block.set(head, HEADER_LENGTH_BYTES);
  for (const [i, { parts }] of sections.entries()) {
    let to = places[i]!;
    for (const part of parts) {
      block.set(part, to);
      to += part.length;
    }
  }
  return block;
}

function sectionsOf({ table, facets, texts, numbers, ids }: NumberedRows): readonly Section[] {
  let [nextText, nextNumber] = [0, 0];
  return storedColumns(table).map((stored) => {
    const { name } = stored;
    if (stored.facet !== null) {
      const at = EVENT_SCHEMA[table].facets.indexOf(stored.facet);
      return facetSection(name, ids[at]!, facets[at]!.combinations);
    }
    return stored.sql === "TEXT" ? textSection(name, texts[nextText++]!) : numberSection(name, stored.nullable, numbers[nextNumber++]!);
  });
}

function facetSection(name: string, ids: readonly number[], combinations: Uint32Array): Section {
  const width = ids.length === 1 ? 0 : widthOf(ids.length - 1);
  const known = bytesOf(Uint32Array.from(ids));
  return {
    column: { name, kind: "facet", width, combinations: ids.length },
    parts: width === 0 ? [known] : [known, narrowed(combinations, width)],
  };
}

const MILLI = 1000;

function numberSection(name: string, isNullable: boolean, values: Float64Array): Section {
  const { least, most, hasNull, scale } = rangeOf(values);
  if (hasNull && !isNullable) throw new RangeError(`a row has no ${name}`);
  const column = { name, kind: "number" } as const;
  if (least > most) return { column: { ...column, width: 0, base: 0, scale: 1, value: null }, parts: [] };
  if (least === most && !hasNull) return { column: { ...column, width: 0, base: 0, scale: 1, value: least }, parts: [] };
  const base = Math.round(least * scale);
  const span = Math.round(most * scale) - base + 1;
  if (scale === 0 || span > 0xffff_ffff)
    return {
      column: { ...column, width: 8, base: 0, scale: 1, value: null },
      parts: [new Uint8Array(values.buffer, values.byteOffset, values.byteLength)],
    };
  const width = widthOf(span);
  const codes = new WIDTHS[width](values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    codes[i] = Number.isNaN(value) ? 0 : Math.round(value * scale) - base + 1;
  }
  return { column: { ...column, width, base, scale, value: null }, parts: [bytesOf(codes)] };
}

/** `scale`: the factor that makes all values whole numbers; 0 if none does. */
function rangeOf(values: Float64Array): { least: number; most: number; hasNull: boolean; scale: number } {
  let least = Infinity;
  let most = -Infinity;
  let hasNull = false;
  let [isWhole, isMilli] = [true, true];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) {
      hasNull = true;
      continue;
    }
    if (value < least) least = value;
    if (value > most) most = value;
    if (!isWhole || Math.floor(value) !== value) {
      isWhole = false;
      isMilli &&= Math.round(value * MILLI) / MILLI === value;
    }
  }
  const isSafe = Math.abs(least) < SAFE_MAX && Math.abs(most) < SAFE_MAX;
  return { least, most, hasNull, scale: !isSafe ? 0 : isWhole ? 1 : isMilli ? MILLI : 0 };
}

/** Multiplied by a thousand, it is still exact. */
const SAFE_MAX = 2 ** 43;

function textSection(name: string, { text, lengths }: PackedTexts): Section {
  const bytes = Buffer.from(text);
  const column = { name, kind: "text", bytes: bytes.length } as const;
  let longest = 0;
  let isOne = true;
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i]!;
    if (length === AS_BEFORE) continue;
    if (length > longest) longest = length;
    if (i > 0) isOne = false;
  }
  if (isOne) return { column: { ...column, width: 0 }, parts: [bytes] };
  // The largest number of each width is reserved: narrowing turns it into `AS_BEFORE`.
  const width = widthOf(longest + 1);
  return { column: { ...column, width }, parts: [narrowed(lengths, width), bytes] };
}

type Width = 1 | 2 | 4;
export const WIDTHS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

const widthOf = (most: number): Width => (most <= 0xff ? 1 : most <= 0xffff ? 2 : 4);

const narrowed = (numbers: Uint32Array, width: Width): Uint8Array => bytesOf(width === 4 ? numbers : new WIDTHS[width](numbers));

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array | Uint16Array | Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
