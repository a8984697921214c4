import type { Head } from "#wire/http/head.ts";

export type Field = readonly [name: string, value: string];

/** What settings and rules make of a response's head, whoever wrote it: an origin, the cache or the edge itself. */
export interface ResponseEdits {
  /** Lower-case names of fields that are left out. */
  readonly drop: string[];
  /** Fields that are added after those that were kept. Values hold one character a byte. */
  readonly add: Field[];
}

/** Anything else would end the line, or not be a field at all (RFC 9110 §5.5). */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Marks the fields of a head that the edits leave out. */
export function dropEdited(buffer: Buffer, head: Head, edits: ResponseEdits): void {
  if (edits.drop.length === 0) return;
  for (let index = 0; index < head.fieldCount; index++)
    if (head.dropped[index] === 0 && edits.drop.includes(head.name(buffer, index).toLowerCase())) head.dropped[index] = 1;
}

/** The fields that edits add, less what could not be written. */
export const addedFields = (edits: ResponseEdits): readonly Field[] =>
  edits.add.filter(([name, value]) => NAME.test(name) && VALUE.test(value));
