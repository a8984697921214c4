import { ENTRY_BYTES } from "./static-table.ts";

/** A field as HPACK gives it: one character a byte, checked by nobody yet. Entries of a table are given again and again. */
export class Field {
  readonly name: string;
  readonly value: string;
  /** What it counts for in a table and in a list (RFC 7541 §4.1). */
  readonly bytes: number;
  /** What its reader made of it, so that an entry of a table is looked at once: a kind, 0 before, and a text. */
  kind = 0;
  line = "";

  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
    this.bytes = name.length + value.length + ENTRY_BYTES;
  }
}

/** Takes the fields of a block in their order. */
export interface FieldSink {
  onField(field: Field): void;
}
