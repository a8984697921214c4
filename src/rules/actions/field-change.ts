/** One field of a head as something changes it: `set` replaces what there is, `add` stands beside it. */
export interface FieldChange {
  readonly name: string;
  readonly lower: string;
  readonly operation: FieldOperation;
  /** One character a byte. */
  readonly value: string;
  /** As it is written, with its CRLF; empty where there is nothing to write, or where it cannot be written. */
  readonly line: string;
}

export type FieldOperation = "set" | "add" | "remove";

/** Anything else would end the line, or not be a field at all (RFC 9110 §5.5). */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const fieldChange = (name: string, operation: FieldOperation, value = ""): FieldChange => changing(name, operation)(value);

/** Makes changes of one field that differ in its value. */
export function changing(name: string, operation: FieldOperation): (value: string) => FieldChange {
  const lower = name.toLowerCase();
  const begin = operation !== "remove" && NAME.test(name) ? `${name}: ` : "";
  return (value) => ({ name, lower, operation, value, line: begin !== "" && VALUE.test(value) ? `${begin}${value}\r\n` : "" });
}
