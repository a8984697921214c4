import { ENTRY_BYTES } from "./static-table.ts";

/** A decoded field, one character per byte, not validated. Entries of a table are returned as the same object each time. */
export class Field {
  readonly name: string;
  readonly value: string;
  /** Size in a table and in a list (RFC 7541 §4.1). */
  readonly bytes: number;
  /** The reader's notes, so that an entry of a table is examined once: its kind (0 until then) and a text. */
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
