/** A change of one header field: `set` replaces the existing field, `add` adds another one. */
export interface FieldChange {
  readonly name: string;
  readonly lower: string;
  readonly operation: FieldOperation;
  /** One character per byte. */
  readonly value: string;
  /** The field line with its CRLF; empty if there is none, or if it would be invalid. */
  readonly line: string;
}

export type FieldOperation = "set" | "add" | "remove";

/** Other characters would end the line or make the field invalid (RFC 9110 §5.5). */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const fieldChange = (name: string, operation: FieldOperation, value = ""): FieldChange => changing(name, operation)(value);

/** Returns a function that makes changes of one field with different values. */
export function changing(name: string, operation: FieldOperation): (value: string) => FieldChange {
  const lower = name.toLowerCase();
  const begin = operation !== "remove" && NAME.test(name) ? `${name}: ` : "";
  return (value) => ({ name, lower, operation, value, line: begin !== "" && VALUE.test(value) ? `${begin}${value}\r\n` : "" });
}
