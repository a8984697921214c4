import type { Head } from "#wire/http/parsed-head.ts";
import { formatHttpDate } from "#wire/http/http-date.ts";

export interface ResponseField {
  readonly name: string;
  /** The name in lower case. */
  readonly key: string;
  readonly value: string;
}

/** The fields of a head that are passed on, in their order; framing and what concerns one connection is not among them. */
export function readFields(buffer: Buffer, head: Head): ResponseField[] {
  const fields: ResponseField[] = [];
  for (let index = 0; index < head.fieldCount; index++) {
    if (head.dropped[index] === 1) continue;
    const name = head.name(buffer, index);
    fields.push({ name, key: name.toLowerCase(), value: head.value(buffer, index) });
  }
  return fields;
}

/** The values of every line of a field. */
export const valuesOf = (fields: readonly ResponseField[], key: string): readonly string[] =>
  fields.flatMap((field) => (field.key === key ? [field.value] : []));

/** The only line of a field; null where it is absent or there are several, which nobody may choose between. */
export function singleValue(fields: readonly ResponseField[], key: string): string | null {
  const values = valuesOf(fields, key);
  return values.length === 1 ? values[0]! : null;
}

/** As they stand in a head, each with its CRLF. */
export function fieldLines(fields: readonly ResponseField[]): string {
  let text = "";
  for (const { name, value } of fields) text += `${name}: ${value}\r\n`;
  return text;
}

/** RFC 9110 §6.6.1: what is kept says when it was made. */
export const withDate = (fields: ResponseField[], nowMs: number): readonly ResponseField[] =>
  fields.some(({ key }) => key === "date") ? fields : [{ name: "Date", key: "date", value: formatHttpDate(nowMs) }, ...fields];
