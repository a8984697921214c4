import type { Head } from "#wire/http/parsed-head.ts";
import { formatHttpDate } from "#wire/http/http-date.ts";

export interface ResponseField {
  readonly name: string;
  /** The name in lower case. */
  readonly key: string;
  readonly value: string;
}

/** The end-to-end fields of a head, in order; without framing and hop-by-hop fields. */
export function readFields(buffer: Buffer, head: Head): ResponseField[] {
  const fields: ResponseField[] = [];
  for (let index = 0; index < head.fieldCount; index++) {
    if (head.dropped[index] === 1) continue;
    const name = head.name(buffer, index);
    fields.push({ name, key: name.toLowerCase(), value: head.value(buffer, index) });
  }
  return fields;
}

/** Values of each line of a field. */
export const valuesOf = (fields: readonly ResponseField[], key: string): readonly string[] =>
  fields.flatMap((field) => (field.key === key ? [field.value] : []));

/** The value of a field with exactly one line; null if it is absent or ambiguous. */
export function singleValue(fields: readonly ResponseField[], key: string): string | null {
  const values = valuesOf(fields, key);
  return values.length === 1 ? values[0]! : null;
}

/** Header lines, each with its CRLF. */
export function fieldLines(fields: readonly ResponseField[]): string {
  let text = "";
  for (const { name, value } of fields) text += `${name}: ${value}\r\n`;
  return text;
}

/** Adds a Date to a response without one (RFC 9110 §6.6.1). */
export const withDate = (fields: ResponseField[], nowMs: number): readonly ResponseField[] =>
  fields.some(({ key }) => key === "date") ? fields : [{ name: "Date", key: "date", value: formatHttpDate(nowMs) }, ...fields];
