import { AS_BEFORE, type PackedFacet, type PackedTexts } from "./packed-rows.ts";
import { DICTIONARY_LEADS, facetColumns, type FacetName } from "./schema.ts";

// Each packer collects one column of a batch. They are classes, because every request passes through them.

/** Initial room of columns. */
export const FIRST_ROWS = 64;

export type AnyRow = Readonly<Record<string, unknown>>;

export class TextPacker {
  private text = "";
  private before: string | undefined = undefined;
  private lengths: Uint32Array;

  constructor(room = FIRST_ROWS) {
    this.lengths = new Uint32Array(room);
  }

  /** Returns the length that this adds to the waiting text, in UTF-16 units. */
  push(text: string, at: number): number {
    if (text === this.before) {
      this.lengths[at] = AS_BEFORE;
      return 0;
    }
    this.text += text;
    this.before = text;
    this.lengths[at] = text.length;
    return text.length;
  }

  take(rows: number): PackedTexts {
    const { text } = this;
    this.text = "";
    this.before = undefined;
    return { text, lengths: this.lengths.slice(0, rows) };
  }

  grow(rows: number): void {
    this.lengths = grown(this.lengths, new Uint32Array(rows));
  }
}

export class NumberPacker {
  private values = new Float64Array(FIRST_ROWS);

  /** NaN is null. */
  push(value: number, at: number): void {
    this.values[at] = value;
  }

  take(rows: number): Float64Array {
    return this.values.slice(0, rows);
  }

  grow(rows: number): void {
    this.values = grown(this.values, new Float64Array(rows));
  }
}

/** Numbers the combinations of one facet within a batch. */
export class FacetPacker {
  private readonly columns: readonly string[];
  private readonly lead: string;
  private texts: string[] = [];
  /** Numbers by the text of the leading column: joining all texts into one key would cost more than comparing them. */
  private numbers = new Map<string, number[]>();
  private last = 0;
  private combinations = new Uint32Array(FIRST_ROWS);

  constructor(name: FacetName) {
    this.columns = facetColumns(name);
    this.lead = DICTIONARY_LEADS[name];
  }

  /** `isAsBefore`: true if the caller knows that the row before has the same combination. */
  push(row: AnyRow, at: number, isAsBefore: boolean): void {
    if (!isAsBefore || at === 0) this.last = this.numberOf(row);
    this.combinations[at] = this.last;
  }

  take(rows: number): PackedFacet {
    const { texts } = this;
    this.texts = [];
    this.numbers = new Map();
    return { texts, combinations: this.combinations.slice(0, rows) };
  }

  grow(rows: number): void {
    this.combinations = grown(this.combinations, new Uint32Array(rows));
  }

  private numberOf(row: AnyRow): number {
    const lead = textOf(row[this.lead]);
    let alike = this.numbers.get(lead);
    if (alike === undefined) this.numbers.set(lead, (alike = []));
    for (const number of alike) if (this.is(number, row)) return number;
    const number = this.texts.length / this.columns.length;
    for (const column of this.columns) this.texts.push(textOf(row[column]));
    alike.push(number);
    return number;
  }

  private is(number: number, row: AnyRow): boolean {
    const { columns, texts } = this;
    for (let i = 0, at = number * columns.length; i < columns.length; i++, at++) if (texts[at] !== (row[columns[i]!] ?? "")) return false;
    return true;
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Fast path for the most common values that are not texts. */
export function cellText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  if (value === null) return "null";
  return Array.isArray(value) && value.length === 0 ? "[]" : JSON.stringify(value);
}

function grown<A extends Uint32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

export class PositionPacker {
  private values = new Uint32Array(FIRST_ROWS);

  push(value: number, at: number): void {
    this.values[at] = value;
  }

  take(rows: number): Uint32Array {
    return this.values.slice(0, rows);
  }

  grow(rows: number): void {
    this.values = grown(this.values, new Uint32Array(rows));
  }
}
